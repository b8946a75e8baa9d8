import AuthInterface
import AuthTesting
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// G8, G9, G12: which handler revokes tokens, what cancels it, and what waits for it.
@Suite(.timeLimit(.minutes(10))) struct RevocationTests {
    @Test func `G9: while another user is signed in, no handler that might affect that user revokes`() async throws {
        let (bench, token) = try await Bench.withToken()
        let (gate, _) = try await bench.startRefresh(of: token)
        bench.revocation.affectsAll()
        try await bench.signIn("bob")
        gate.open()
        try await bench.events.first("responseDropped")
        try await bench.engine.signOut()
        #expect(bench.revocation.revoked == ["bob1 g0"])
    }

    private enum Login: CaseIterable { case here, steppingUp, elsewhere, unusable }

    @Test(arguments: [true, false], Login.allCases)
    private func `G9: a revocation that may end every session of the user is cancelled by the next sign-in`(
        isNarrow: Bool, login: Login
    ) async throws {
        let bench = try await Bench.signedIn(.shared)
        if !isNarrow { bench.revocation.affectsAll() }
        let gate = bench.revocation.hold()
        let signOut = Task { try await bench.engine.signOut() }
        try await gate.arrivals(atLeast: 1)
        let isCancelled = !isNarrow && login != .unusable
        switch login {
        case .here:
            let save = bench.store.hold(.save, .before)
            let signIn = Task { try await bench.signIn("ada") }
            if isCancelled { try await bench.revocation.cancellations(atLeast: 1) }
            #expect(bench.engine.state == .signedOut(.byUser), "the new tokens are not stored yet")
            save.open()
            _ = try await signIn.value
        case .steppingUp: try await bench.engine.stepUp(bench.server.signIn("ada"))
        case .elsewhere: try await bench.other().signIn(bench.server.signIn("ada"))
        case .unusable:
            let tokens = TokenRefreshResult(accessToken: "", refreshToken: nil)
            #expect(await code { try await bench.engine.signIn(tokens) } == "invalidTokens")
        }
        if isCancelled { try await bench.revocation.cancellations(atLeast: 1) }
        #expect(bench.revocation.isCancelled == isCancelled)
        gate.open()
        try await signOut.value
        #expect(await bench.engine.settle())
        #expect(bench.revocation.revoked == ["ada1 g0"])
    }

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
            let engine = TokenRefreshCoordinator(over: store, handler, revocation: isOtherGiven ? other : nil)
            try await engine.restore()
            try await engine.signOut(reason: .byUser)
            #expect(handler.revocation.revoked == (isOtherGiven ? [] : ["ada1 g0"]))
            #expect(other.revoked == (isOtherGiven ? ["ada1 g0"] : []))
        }
    }

    @Test(arguments: [true, false])
    func `G8, G9: a failed revocation is an event, and delays a sign-out by its limit`(hangs: Bool) async throws {
        let bench = try await Bench.signedIn()
        let gate = hangs ? bench.revocation.hold() : nil
        if !hangs { bench.revocation.onCall { throw TokenRefreshError.unavailable } }
        let signOut = Task { try await bench.engine.signOut() }
        try await until { !bench.revocation.revoked.isEmpty }
        #expect(bench.engine.state == .signedOut(.byUser))
        try await until { bench.store.base.bundle == nil }
        if hangs { bench.clock.advance(by: .seconds(30)) }
        try await signOut.value
        try await bench.events.first("revocationFailed")
        #expect(bench.events.count("revocationFailed") == 1)
        #expect(try await bench.signIn("bob").name == "bob1 g0")
        gate?.open()
    }

    @Test func `G7, G12: settle and a sign-out wait for a revocation, up to a limit or a cancellation`() async throws {
        let bench = try await Bench.signedIn()
        let gate = bench.revocation.hold()
        let signOut = Task { try await bench.engine.signOut(reason: .byUser) }
        try await gate.arrivals(atLeast: 1)
        let settled = Task { await bench.engine.settle(within: .seconds(5)) }
        try await bench.clock.advance(toTimerIn: .seconds(5))
        #expect(await settled.value == false)
        let settling = Task { await bench.engine.settle() }
        await settle()
        settling.cancel()
        #expect(await !settling.value)
        await expectCancellation(of: signOut)
        #expect(bench.engine.state == .signedOut(.byUser))
        gate.open()
        #expect(await bench.engine.settle())
    }
}
