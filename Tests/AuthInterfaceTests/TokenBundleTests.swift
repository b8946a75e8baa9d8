import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

/// T1: what a bundle knows of itself.
@Suite struct TokenBundleTests {
    @Test("A bundle survives being encoded and decoded, whatever it lacks")
    func coding() throws {
        let bundles = [
            TokenBundle(accessToken: "access-1", refreshToken: nil),
            TokenBundle(
                accessToken: "access-1",
                refreshToken: "refresh-1",
                expiresAt: Date(timeIntervalSince1970: 1_800_000_000.25),
                clockSkew: -3.5,
                session: SessionID(rawValue: "session-1"),
                generation: 41
            ),
        ]
        for bundle in bundles {
            let data = try JSONEncoder().encode(bundle)
            #expect(try JSONDecoder().decode(TokenBundle.self, from: data) == bundle)
        }
    }

    @Test("A bundle has expired from its expiry on, and one without an expiry never has")
    func expiry() {
        let end = Date(timeIntervalSince1970: 1_800_000_000)
        let bundle = TokenBundle(accessToken: "access-1", refreshToken: nil, expiresAt: end)
        #expect(!bundle.isExpired(at: end - 0.001))
        #expect(bundle.isExpired(at: end))
        #expect(!TokenBundle(accessToken: "access-1", refreshToken: nil).isExpired(at: .distantFuture))
    }

    @Test("Only a later bundle of the same session supersedes another")
    func supersedes() {
        let ada = SessionID(rawValue: "ada")
        let bob = SessionID(rawValue: "bob")
        func bundle(_ session: SessionID, _ generation: Int) -> TokenBundle {
            TokenBundle(accessToken: "access", refreshToken: nil, session: session, generation: generation)
        }
        #expect(bundle(ada, 2).supersedes(bundle(ada, 1)))
        #expect(!bundle(ada, 1).supersedes(bundle(ada, 1)))
        #expect(!bundle(ada, 1).supersedes(bundle(ada, 2)))
        #expect(!bundle(bob, 2).supersedes(bundle(ada, 1)))
    }

    @Test("Every login is another session")
    func sessions() {
        #expect(Set((0..<100).map { _ in SessionID() }).count == 100)
        #expect(SessionID(rawValue: "0123456789").description == "01234567")
    }

    @Test("A verdict is taken as it is; any other error is unavailable, with the error as its cause")
    func verdicts() {
        #expect(TokenRefreshError.verdict(of: TokenRefreshError.rejected).code == .rejected)
        let other = TokenRefreshError.verdict(of: CocoaError(.fileNoSuchFile))
        #expect(other.code == .unavailable)
        #expect(other.cause is CocoaError)
    }

    @Test("The system's clocks move forward, and a sleep until the past returns at once")
    func systemTime() async throws {
        let clock = SystemTimeSource()
        let before = clock.uptime
        try await clock.sleep(until: before - .seconds(10))
        #expect(clock.uptime >= before)
        #expect(abs(clock.date.timeIntervalSinceNow) < 60)
    }
}
