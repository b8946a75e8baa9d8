import AuthInterface
import AuthTesting
import Testing

@testable import TokenRefresh

/// G9, G12: which handler revokes tokens, and what waits for it.
@Suite(.timeLimit(.minutes(10))) struct RevocationTests {
    /// A handler that can revoke, too.
    private struct RevokingHandler: TokenRefreshHandler, TokenRevocationHandler {
        let refreshing = ScriptedRefreshHandler()
        let revocation = RecordingRevocation()

        func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
            try await refreshing.refresh(request)
        }

        func revoke(_ tokens: TokenBundle) async throws { try await revocation.revoke(tokens) }
    }

    @Test func `G9: a refresh handler that can revoke is called, where no other handler is given`() async throws {
        for isOtherGiven in [false, true] {
            let handler = RevokingHandler()
            let other = RecordingRevocation()
            let store = RecordingTokenStore(holding: .fixture())
            let engine = TokenRefreshCoordinator(
                store: store, handler: handler, revocation: isOtherGiven ? other : nil
            )
            try await engine.restore()
            try await engine.signOut(reason: .byUser)
            #expect(handler.revocation.revoked == (isOtherGiven ? [] : ["ada1 g0"]))
            #expect(other.revoked == (isOtherGiven ? ["ada1 g0"] : []))
        }
    }

    @Test func `G12: settle waits for a revocation, up to its limit`() async throws {
        let bench = try await Bench.signedIn()
        let gate = Gate()
        bench.revocation.hold(at: gate)
        let signOut = Task { try await bench.engine.signOut(reason: .byUser) }
        await gate.arrivals(atLeast: 1)
        let settled = Task { await bench.engine.settle(within: .seconds(5)) }
        // The limit of the revocation, and that of the wait.
        await bench.clock.sleepers(atLeast: 2)
        bench.clock.advance(by: .seconds(5))
        #expect(await settled.value == false)
        gate.open()
        try await signOut.value
        #expect(await bench.engine.settle())
    }
}
