import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G22: the session of a handler that needs no refresh token. It has begun in the store, and has no token yet.
@Suite struct SessionWithoutSignInTests {
    private let job = TokenBundle(accessToken: "", refreshToken: nil, session: SessionID(rawValue: "job"))
    private let refused = TokenRefreshError(
        .unavailable, retryAfter: .seconds(300), status: 401, serverCode: "invalid_client")

    /// The response of the server: an access token, and nothing else.
    private func token(_ generation: Int) -> TokenRefreshResult {
        TokenRefreshResult(accessToken: "access-job-\(generation)", expiresIn: .seconds(3_600))
    }

    /// A process in which caller 1 has asked for the first token.
    private func started(isShared: Bool = false, with bundle: TokenBundle? = nil) -> MachineScript {
        var script = MachineScript(isShared: isShared, tolerance: .sameKey, needsRefreshToken: false)
        #expect(script.ask(1) == ["load"])
        _ = script.loaded(.success(.active(bundle ?? job)))
        return script
    }

    /// A process that has the first token.
    private func refreshedOnce() -> MachineScript {
        var script = started()
        _ = script.respond(token(1), isStored: true)
        return script
    }

    @Test func `G1: the first requests cause one call without a refresh token, and continue with its token`() {
        var script = started()
        #expect(script.lastRequest?.refreshToken == "" && script.lastRequest?.accessToken == "")
        #expect(script.ask(2) == [])
        #expect(script.respond(token(1)) == ["save job g1"])
        #expect(script.wrote() == ["1: job g1", "2: job g1"])
        #expect(script.state == "signed in job" && script.machine.status.isRefreshable)
    }

    @Test func `G3: the token is refreshed as that of a user, ahead of its end, after it, and where it is refused`() {
        var script = refreshedOnce()
        #expect(script.passToAhead() == [])
        #expect(script.ask(3) == ["3: job g1", "call g1"])
        _ = script.respond(token(2), isStored: true)
        #expect(script.ask(4, after: .seconds(3_600)) == ["call g2"])
        _ = script.respond(token(3))
        #expect(script.wrote() == ["4: job g3"])
        #expect(script.refused(5, generation: 3, of: "job", after: .seconds(60)) == ["call g3"])
    }

    @Test func `G12: a call whose response was lost is repeated with the same key`() {
        var script = started(isShared: true)
        #expect(script.leased(reading: job) == ["call g0"])
        let key = script.key
        #expect(script.respond(.unavailable) == ["call g0"])
        #expect(script.key == key)
        _ = script.respond(token(1))
        #expect(script.wrote() == ["1: job g1", "release"])
    }

    @Test func `G6: a refused client ends nothing, and its pause is stored, with the server's code, before any token`()
        throws
    {
        var script = started()
        #expect(script.respond(refused) == ["1: refreshUnavailable"])
        #expect(script.state == "signed in job")
        let marked = try #require(script.lastContent?.bundle)
        #expect(marked.refreshIntent?.failure?.serverCode == "invalid_client")
        var next = started(with: marked)
        #expect(next.lastRequest == nil && next.machine.status.lastFailure?.serverCode == "invalid_client")
        #expect(next.ask(2, after: .seconds(300)) == ["call g0"])
    }

    @Test func `G13: the token of another process is used, and no call is made`() {
        var script = started(isShared: true)
        let stored = TokenBundle.stored(
            "job", 1, refreshToken: "", expiresAt: script.date + 3_600, receivedAt: script.date)
        #expect(script.leased(reading: stored) == ["1: job g1", "release"])
    }

    @Test func `after a sign-out requests fail, and restore finds the session that has begun in the store`() {
        var script = refreshedOnce()
        _ = script.signOut(3, isStored: true)
        #expect(script.ask(4) == ["4: notSignedIn"])
        #expect(script.restore(5) == ["check"])
        let next = TokenBundle(accessToken: "", refreshToken: nil, session: SessionID(rawValue: "next"))
        #expect(script.checked(.active(next)) == ["signed in next", "5: signed in next"])
        #expect(script.ask(6) == ["call g0"])
        _ = script.signOut(7, isStored: true)
        #expect(
            script.respond(TokenRefreshResult(accessToken: "access")) == ["revoke next g1"], "G9: it comes too late")
    }
}
