import AuthInterface
import Foundation
import Testing

@Suite struct TokenBundleTests {
    @Test func `G31: a subject has two parts of some length, is compared byte by byte, and is not described`() throws {
        #expect(TokenSubject(issuer: "", id: "a") == nil && TokenSubject(issuer: "a", id: "") == nil)
        let long = String(repeating: "a", count: TokenSubject.maximumLength)
        #expect(TokenSubject(issuer: long, id: long) != nil && TokenSubject(issuer: "a", id: long + "a") == nil)
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        #expect(TokenSubject(issuer: "a", id: composed) != TokenSubject(issuer: "a", id: decomposed))
        let subject = try #require(TokenSubject(issuer: "https://issuer.example", id: "user-1"))
        var text = "\(subject) \(String(reflecting: subject))"
        dump(subject, to: &text)
        #expect(!text.contains("user-1"))
    }

    @Test func `a bundle has expired from its expiry on, and one without an expiry never has`() {
        let end = Date(timeIntervalSince1970: 1_800_000_000)
        let bundle = TokenBundle(accessToken: "access-1", refreshToken: nil, expiresAt: end)
        #expect(!bundle.isExpired(at: end - 0.001))
        #expect(bundle.isExpired(at: end))
        #expect(!TokenBundle(accessToken: "access-1", refreshToken: nil).isExpired(at: .distantFuture))
    }

    @Test func `G3: a lifetime is the time between two instants that can be one, and else is not known`() {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        func lifetime(_ seconds: TimeInterval?, from receivedAt: Date?) -> Duration? {
            let end = seconds.map { start + $0 }
            return TokenBundle(accessToken: "a", refreshToken: nil, expiresAt: end, receivedAt: receivedAt).lifetime
        }
        #expect(lifetime(3_600, from: start) == .seconds(3_600))
        for seconds in [0, -1, 4e9, 1e300, .infinity, .nan] { #expect(lifetime(seconds, from: start) == nil) }
        #expect(lifetime(3_600, from: nil) == nil)
        #expect(lifetime(nil, from: start) == nil)
    }

    @Test func `G31, G36: what an earlier version has encoded has no subject, no scope, and one token`() throws {
        let stored = Data(
            #"""
            {"accessToken":"a","refreshToken":"r","clockSkew":0,"session":"s","generation":3,"accessGeneration":1,
            "audienceTokens":{"files":{"value":"f","clockSkew":0,"generation":3}}}
            """#.utf8)
        let bundle = try JSONDecoder().decode(TokenBundle.self, from: stored)
        #expect(bundle.accessToken == "a" && bundle.refreshToken == "r" && bundle.generation == 3)
        #expect(bundle.subject == nil && bundle.scope == nil)
        #expect(!String(decoding: try JSONEncoder().encode(bundle), as: UTF8.self).contains("udience"))
    }

    @Test func `Another access or refresh token is not the same tokens, and another intent is`() {
        let bundle = TokenBundle(accessToken: "access", refreshToken: "refresh")
        func with(access: String = "access", refresh: String? = "refresh", generation: Int = 0) -> TokenBundle {
            TokenBundle(accessToken: access, refreshToken: refresh, session: bundle.session, generation: generation)
        }
        let intent = RefreshIntent(idempotencyKey: "key", owner: .current, date: Date())
        #expect(bundle.hasSameTokens(as: bundle.with(refreshIntent: intent)))
        #expect(bundle.hasSameTokens(as: with()))
        for other in [with(access: "other"), with(refresh: "other"), with(refresh: nil), with(generation: 1)] {
            #expect(!bundle.hasSameTokens(as: other))
        }
    }

    @Test func `only a later bundle of the same session supersedes another`() {
        func bundle(_ session: String, _ generation: Int) -> TokenBundle {
            let session = SessionID(rawValue: session)
            return TokenBundle(accessToken: "access", refreshToken: nil, session: session, generation: generation)
        }
        #expect(bundle("ada", 2).supersedes(bundle("ada", 1)))
        for (session, generation) in [("ada", 1), ("ada", 0), ("bob", 2)] {
            #expect(!bundle(session, generation).supersedes(bundle("ada", 1)))
        }
    }

    @Test func `every login has its own session`() {
        #expect(Set((0..<100).map { _ in SessionID() }).count == 100)
        #expect(SessionID(rawValue: "0123456789").description == "01234567")
    }

    @Test func `an error of another type is unavailable, with that error as its cause`() {
        #expect(TokenRefreshError.verdict(of: TokenRefreshError.rejected).code == .rejected)
        let other = TokenRefreshError.verdict(of: CocoaError(.fileNoSuchFile))
        #expect(other.code == .unavailable)
        #expect(other.cause is CocoaError)
    }

    @Test func `a status means expired if it is 401, there is none, or the handler says so`() {
        for status in [401, nil] { #expect(TokenRefreshError(.ambiguous, status: status).statusMeansExpired) }
        for status in [400, 403, 419] { #expect(!TokenRefreshError(.ambiguous, status: status).statusMeansExpired) }
        let configured = TokenRefreshError(.ambiguous, status: 419, statusMeansExpired: true)
        #expect(configured.statusMeansExpired && configured != TokenRefreshError(.ambiguous, status: 419))
        #expect(!TokenRefreshError(.ambiguous, status: 401, statusMeansExpired: false).statusMeansExpired)
    }

    @Test func `a process includes its engines, and no process whose name begins with its own`() {
        let here = ProcessIdentity.current
        let (first, second) = (ProcessIdentity.newEngine(), ProcessIdentity.newEngine())
        #expect(here.includes(here) && here.includes(first) && here.includes(second))
        #expect(first != second && !first.includes(second) && !first.includes(here))
        #expect(!here.includes(ProcessIdentity(host: "another", process: here.process)))
        #expect(!here.includes(ProcessIdentity(host: here.host, process: here.process + "0")))
    }
}
