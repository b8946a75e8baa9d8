import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// G3, G19: the lifetime of a token, and the limits of plausible values.
@Suite struct LifetimeRuleTests {
    private let date = MachineScript.start

    private func token(_ claims: String) -> String { .jwt(claims: claims.utf8) }

    private func clock(_ limit: Duration?) -> MachineClock {
        let policy = TokenRefreshPolicy.with { $0.maximumLifetime = limit ?? $0.maximumLifetime }
        return MachineClock(at: Instant(uptime: .zero, date: date), policy)
    }

    private func lifetime(_ result: TokenRefreshResult, limit: Duration? = nil) -> Duration? {
        let clock = clock(limit)
        return TokenLifetime(of: result, sentAt: clock.now, clock).duration
    }

    private func expiry(_ seconds: TimeInterval, receivedAgo: TimeInterval? = nil, limit: Duration? = nil) -> Expiry {
        let bundle = TokenBundle(
            accessToken: "access", refreshToken: "refresh", expiresAt: date + seconds,
            receivedAt: receivedAgo.map { date - $0 })
        return clock(limit).expiry(ofStored: bundle)
    }

    @Test func `A lifetime comes before an expiry, that before the claims, and the server's date before the issue`() {
        let claims = token(#"{"iat":1799999000,"exp":1800000900}"#)
        let rows: [(TokenRefreshResult, seconds: Double)] = [
            (.init(accessToken: claims, expiresIn: .seconds(30), expiresAt: date + 100), 30),
            (.init(accessToken: claims, expiresAt: date + 100), 100),
            (.init(accessToken: claims, serverDate: date + 800), 100), (.init(accessToken: claims), 1_900),
            // DI6: as text, and in milliseconds.
            (.init(accessToken: token(#"{"iat":1799999000,"exp":"1800000900"}"#)), 1_900),
            (.init(accessToken: token(#"{"iat":1799999000000,"exp":1800000900500}"#)), 1_900.5),
        ]
        for (result, seconds) in rows { #expect(lifetime(result) == .seconds(seconds)) }
        let long = TokenRefreshResult(accessToken: "access", expiresIn: .seconds(101))
        #expect(lifetime(long, limit: .seconds(100)) == nil && lifetime(long, limit: .seconds(101)) == .seconds(101))
    }

    @Test func `A refresh token stays until a response brings another one`() {
        let (old, clock) = (TokenBundle.stored("ada", 3), clock(nil))
        for (answered, kept) in [(nil, "refresh-ada-3"), ("", "refresh-ada-3"), ("new", "new")] as [(String?, String)] {
            let tokens = TokenRefreshResult(accessToken: "access", refreshToken: answered)
            let new = TokenBundle(
                tokens, session: old.session, old.ordinal, after: old, lifetime: nil, clock.serverClock, clock.now)
            #expect(new.refreshToken == kept)
        }
    }

    @Test func `DI6, G26: each claim is read alone, what cannot be read is named, and what is no JWT has none`() {
        let half = JSONWebTokenClaims(token(#"{"iat":{"a":1},"exp":1800000900}"#))
        #expect(half?.issuedAt == nil && half?.expiresAt != nil && half?.unreadExpiry == nil)
        let unread = JSONWebTokenClaims(token(#"{"iat":1799999000,"exp":"soon 7"}"#))
        #expect(unread?.issuedAt != nil && unread?.expiresAt == nil && unread?.unreadExpiry == "7")
        let claims = token(#"{"exp":1800000100,"a":"???>>>~~~ÿÿÿ"}"#)
        #expect(claims.contains("-") || claims.contains("_"))
        #expect(JSONWebTokenClaims(claims)?.expiresAt == date + 100)

        let strange = [
            "", ".", "..", "...", "a.b.c", "a.!!!.c", "a.e30.c", "\(String.jwt(exp: -1))", ".bnVsbA.",
            "a.\(Data("{\"exp\":\"soon\"}".utf8).base64EncodedString()).c",
        ]
        for token in strange { #expect(JSONWebTokenClaims(token)?.expiresAt == nil) }
        let short = token(#"{"exp":1800000100}"#)
        let padding = String(repeating: "x", count: JSONWebTokenClaims.maximumLength - short.utf8.count)
        #expect(JSONWebTokenClaims(short + padding)?.expiresAt == date + 100)
        #expect(JSONWebTokenClaims(short + padding + "x") == nil)
    }

    @Test func `G3, G19: no stored expiry, clock or limit lengthens a token's life or its windows`() {
        #expect(expiry(Date.distantPast.timeIntervalSince(date)) == .unknown, "an implausible one is ignored")
        #expect(expiry(5_000, receivedAgo: -4_900).end == .seconds(100), "the clock was set back")
        let limited = expiry(3_600, receivedAgo: 0, limit: .seconds(30))
        #expect(limited.end == .seconds(30) && limited.leewayFrom == .seconds(27))
        #expect(limited.urgency(at: .seconds(15)) == .none)
    }

    @Test func `G24: an expiry that cannot be placed in time is reported once, at a sign-in and at a refresh`() {
        func ignored(_ script: MachineScript) -> [String] {
            script.events.compactMap { if case .expiryIgnored(_, let expiry) = $0 { expiry } else { nil } }
        }
        var script = MachineScript()
        var tokens = TokenRefreshResult(accessToken: "access-ada-0", refreshToken: "refresh-ada-0")
        tokens.unreadExpiry = "12 Smarch"
        _ = script.signIn(1, as: "ada", with: tokens, isStored: true)
        #expect(ignored(script) == ["12 Smarch"])
        for (generation, expiry) in ["13 Smarch", nil].enumerated() {
            #expect(script.refresh(2) == ["call g\(generation)"])
            tokens.accessToken = "access-ada-\(generation + 1)"
            tokens.unreadExpiry = expiry
            _ = script.respond(tokens, isStored: true)
            #expect(ignored(script) == ["12 Smarch", "13 Smarch"])
        }
    }

    @Test(arguments: [-62_135_769_600, 1e300, -1e300, .infinity, -.infinity, .nan, 1e18, -1e18])
    func `An implausible server date does not stop the process, and is ignored`(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        let claims = String.jwt(exp: 1_800_000_900, iat: 1_800_000_000)
        for tokens in [
            TokenRefreshResult(accessToken: "access-ada-0", expiresIn: .seconds(900), serverDate: date),
            TokenRefreshResult(accessToken: claims, serverDate: date),
        ] {
            var script = MachineScript()
            _ = script.send(.serverDateNoted(date))
            _ = script.signIn(1, as: "ada", with: tokens)
            let stored = script.lastContent?.bundle
            #expect(stored?.expiresAt == script.date + 900 && stored?.clockSkew == 0)
        }
    }
}

/// G26: no access token crashes or hangs the reader of its claims, or takes time out of proportion to its size.
@Suite(.ownThread, .timeLimit(.minutes(20))) struct ClaimsFuzzTests {
    @Test func `no token crashes or hangs the reader of its claims, and each date is from 1970 to 9999`() {
        let inputs = Fuzzing(
            seeds: [#"{"exp":1800000000,"iat":1799999000.5}"#, #"{"exp":null,"a":[1,{"b":"\u0041"}]}"#, "[]", "null"],
            words: ["{", "}", "[", "\"exp\":", "1e999", "-1", "9999999999999999999999", "null", "\\u0000", "."],
            rounds: 2_000)
        inputs.run { input in
            let text = String(decoding: input, as: UTF8.self)
            // Also what is not base64url, or of another number of parts.
            for token in [.jwt(claims: input), "a.\(text).b", text] {
                let claims = JSONWebTokenClaims(token)
                for date in [claims?.expiresAt, claims?.issuedAt].compactMap(\.self) {
                    #expect((0...253_402_300_799).contains(date.timeIntervalSince1970), "\(token)")
                }
            }
        }
    }

    @Test(arguments: ["[", "{\"a\":", "\"", "9", "\\u0041", " ", "1,", "\"exp\":1,", "{}"])
    func `the time for a token is linear in its length`(unit: String) {
        for (start, end) in [("", ""), ("{\"exp\":", "}"), ("{\"a\":\"", "\",\"exp\":1}"), ("{\"a\":[", "1]}")] {
            let isLinear = Fuzzing.isLinear(
                unit, prefix: start, suffix: end, size: 2_500, preparing: String.jwt(claims:)
            ) {
                _ = JSONWebTokenClaims($0)
            }
            #expect(isLinear, "\(start)\(unit)…\(end)")
        }
    }
}
