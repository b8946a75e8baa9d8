import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G3, G19: the lifetime of a token, and the limits of plausible values.
@Suite struct LifetimeRuleTests {
    private let date = Date(timeIntervalSince1970: 1_800_000_000)
    private let year = Duration.seconds(366 * 86_400)

    private func lifetime(_ result: TokenRefreshResult, limit: Duration? = nil) -> Duration? {
        TokenLifetime(of: result, sentAt: date, isServerTime: false, limit: limit ?? year).duration
    }

    /// A JWT whose claims are given as JSON.
    private func token(_ claims: String) -> String {
        let payload = Data(claims.utf8).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        return "e30.\(payload).c2ln"
    }

    private func expiry(_ bundle: TokenBundle, limit: Duration? = nil) -> Expiry {
        var policy = TokenRefreshPolicy()
        policy.maximumLifetime = limit ?? year
        return Expiry(stored: bundle, at: Instant(uptime: .zero, date: date), skew: 0, policy: policy)
    }

    private func bundle(expiresIn seconds: TimeInterval, receivedAgo: TimeInterval?) -> TokenBundle {
        TokenBundle(
            accessToken: "access",
            refreshToken: "refresh",
            expiresAt: date + seconds,
            receivedAt: receivedAgo.map { date - $0 }
        )
    }

    @Test func `The response's lifetime comes before the token's own claims`() {
        let claims = token(#"{"iat":1799999000,"exp":1800000900}"#)
        #expect(lifetime(TokenRefreshResult(accessToken: claims, expiresAt: date + 100)) == .seconds(100))
        #expect(lifetime(TokenRefreshResult(accessToken: claims, expiresIn: .seconds(30))) == .seconds(30))
        #expect(lifetime(TokenRefreshResult(accessToken: claims)) == .seconds(1_900))
    }

    @Test func `DI6: each claim is read alone, as text and in milliseconds too, and what cannot be is named`() {
        let texts = token(#"{"iat":1799999000,"exp":"1800000900"}"#)
        #expect(lifetime(TokenRefreshResult(accessToken: texts)) == .seconds(1_900))
        let milliseconds = token(#"{"iat":1799999000000,"exp":1800000900500}"#)
        #expect(lifetime(TokenRefreshResult(accessToken: milliseconds)) == .seconds(1_900.5))
        let half = JSONWebTokenClaims(token(#"{"iat":{"a":1},"exp":1800000900}"#))
        #expect(half?.issuedAt == nil && half?.expiresAt != nil && half?.unreadExpiry == nil)
        let unread = JSONWebTokenClaims(token(#"{"iat":1799999000,"exp":"soon 7"}"#))
        #expect(unread?.issuedAt != nil && unread?.expiresAt == nil && unread?.unreadExpiry == "7")
    }

    @Test func `A lifetime comes before an absolute expiry`() {
        let both = TokenRefreshResult(accessToken: "access", expiresIn: .seconds(30), expiresAt: date + 100)
        #expect(lifetime(both) == .seconds(30))
    }

    @Test func `The date of the response comes before the token's own instant of issue`() {
        let claims = token(#"{"iat":1799999000,"exp":1800000900}"#)
        #expect(lifetime(TokenRefreshResult(accessToken: claims, serverDate: date + 800)) == .seconds(100))
    }

    @Test func `A lifetime above the maximum is ignored`() {
        let result = TokenRefreshResult(accessToken: "access", expiresIn: .seconds(101))
        #expect(lifetime(result, limit: .seconds(100)) == nil)
        #expect(lifetime(result, limit: .seconds(101)) == .seconds(101))
    }

    @Test func `Claims are read in the alphabet of base64url`() {
        let claims = token(#"{"exp":1800000100,"a":"???>>>~~~ÿÿÿ"}"#)
        #expect(claims.contains("-") || claims.contains("_"))
        #expect(JSONWebTokenClaims(claims)?.expiresAt == date + 100)
    }

    @Test func `G26: a text of more than 64 KB is not decoded`() {
        let short = token(#"{"exp":1800000100}"#)
        let padding = String(repeating: "x", count: JSONWebTokenClaims.maximumLength - short.utf8.count)
        #expect(JSONWebTokenClaims(short + padding)?.expiresAt != nil)
        #expect(JSONWebTokenClaims(short + padding + "x") == nil)
    }

    @Test func `G19: an implausible stored expiry is ignored`() {
        let old = TokenBundle(accessToken: "access", refreshToken: "refresh", expiresAt: .distantPast)
        #expect(expiry(old) == .unknown)
    }

    @Test func `G19: a clock that was set back does not lengthen a stored token's life`() {
        #expect(expiry(bundle(expiresIn: 5_000, receivedAgo: -4_900)).end == .seconds(100))
    }

    @Test func `G3: the longest lifetime also limits the windows of a stored token`() {
        let expiry = expiry(bundle(expiresIn: 1_000, receivedAgo: 0), limit: .seconds(100))
        #expect(expiry.end == .seconds(100))
        #expect(expiry.leewayFrom == .seconds(95))
    }

    @Test func `G19: the latest date of the server counts`() {
        var clock = ServerClock()
        let start = Instant(uptime: .zero, date: date)
        clock.record(date + 50, at: start)
        clock.record(date + 70, at: start)
        #expect(clock.skew(at: start) == 70)
    }
}

/// G3, G19: the time on the server's clock, and what is stored of it.
@Suite struct ServerClockTests {
    /// What a sign-in stores.
    private func signedIn(_ script: inout MachineScript) throws -> TokenBundle {
        _ = script.signIn(1, as: "bob", lifetime: .seconds(3_600))
        return try #require(script.lastContent?.bundle)
    }

    @Test func `G3: a stored bundle says when its access token was received and how long it is valid`() throws {
        var script = MachineScript()
        let stored = try signedIn(&script)
        #expect(stored.receivedAt == script.date)
        #expect(stored.lifetime == .seconds(3_600))
    }

    /// The expiries that were reported as ignored.
    private func ignored(_ script: MachineScript) -> [String] {
        script.events.compactMap { event in
            if case .expiryIgnored(let session, let expiry) = event { "\(session.rawValue): \(expiry)" } else { nil }
        }
    }

    @Test func `G24: an expiry that cannot be placed in time is reported once, at a sign-in and at a refresh`() throws {
        var script = MachineScript()
        var tokens = TokenRefreshResult(accessToken: "access-ada-0", refreshToken: "refresh-ada-0")
        tokens.unreadExpiry = "12 Smarch"
        _ = script.send(.signIn(tokens, SessionID(rawValue: "ada"), WaiterID(number: 1)))
        _ = script.wrote()
        #expect(ignored(script) == ["ada: 12 Smarch"])
        #expect(script.refresh(2) == ["call g0"])
        let call = try #require(script.call)
        tokens.accessToken = "access-ada-1"
        tokens.unreadExpiry = "13 Smarch"
        _ = script.send(.responded(call.id, base: call.base, .success(tokens)))
        _ = script.wrote()
        #expect(ignored(script) == ["ada: 12 Smarch", "ada: 13 Smarch"])
        tokens.accessToken = "access-ada-2"
        tokens.unreadExpiry = nil
        #expect(script.refresh(3) == ["call g1"])
        let next = try #require(script.call)
        _ = script.send(.responded(next.id, base: next.base, .success(tokens)))
        #expect(ignored(script).count == 2)
    }

    @Test(arguments: [-62_135_769_600, 1e300, -1e300, .infinity, -.infinity, .nan, 1e18, -1e18])
    func `An implausible server date does not stop the process, and is ignored`(seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let claims = String.jwt(exp: 1_800_000_900, iat: 1_800_000_000)
        for tokens in [
            TokenRefreshResult(accessToken: "access-ada-0", expiresIn: .seconds(900), serverDate: date),
            TokenRefreshResult(accessToken: claims, serverDate: date),
        ] {
            var script = MachineScript()
            _ = script.send(.serverDateNoted(date))
            _ = script.send(.signIn(tokens, SessionID(rawValue: "ada"), WaiterID(number: 1)))
            let stored = try #require(script.lastContent?.bundle)
            #expect(stored.expiresAt == script.date + 900)
            #expect(stored.clockSkew == 0)
        }
    }

    @Test func `G19: a later server date replaces an earlier one`() throws {
        var script = MachineScript()
        _ = script.send(.serverDateNoted(script.date + 50))
        _ = script.send(.serverDateNoted(script.date + 70))
        #expect(try signedIn(&script).clockSkew == 70)
    }

    @Test func `G19: only the first server date corrects the expiry of a restored token`() {
        var script = MachineScript()
        _ = script.ask(1)
        let stored = TokenBundle.stored("ada", 4, expiresAt: script.date + 3_600, clockSkew: 0.5)
        #expect(script.loaded(.success(.active(stored))) == ["signed in ada", "1: ada g4"])
        _ = script.send(.serverDateNoted(script.date))
        _ = script.send(.serverDateNoted(script.date + 2 * 86_400))
        #expect(script.ask(2) == ["2: ada g4"])
    }

    @Test func `G19: until a server date is known, a stored expiry is read with the skew at its receipt`() {
        var script = MachineScript()
        _ = script.ask(1)
        let skew = -2 * 86_400.0
        let stored = TokenBundle.stored("ada", 4, expiresAt: script.date + skew + 3_600, clockSkew: skew)
        #expect(script.loaded(.success(.active(stored))) == ["signed in ada", "1: ada g4"])
    }
}
