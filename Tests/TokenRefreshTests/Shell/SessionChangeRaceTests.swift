import AuthInterface
import AuthTesting
import ContractTesting
import Testing

@testable import TokenRefresh

/// G9, G23: sign-outs and sign-ins during a refresh.
@Suite(.timeLimit(.minutes(10))) struct SessionChangeRaceTests {
    /// A step-up page ends in another request of a server than the one that was challenged, often on another host.
    @Test func `G32: a step-up by an engine that has not read its store is one of the session that it holds`()
        async throws
    {
        let (bench, ada) = (Bench(.shared), TokenSubject(issuer: "https://issuer.example", id: "ada"))
        var login = bench.server.signIn("ada")
        login.subject = ada
        try await bench.engine.signIn(login)
        let session = bench.engine.state
        let other = bench.other()
        let high = TokenRefreshResult(accessToken: "access-high", refreshToken: "refresh-high", subject: ada)
        try await other.stepUp(high)
        #expect(other.state == session && bench.store.base.bundle?.accessToken == "access-high")
        #expect(bench.store.base.bundle?.refreshToken == "refresh-high")
        #expect(await other.settle())
        #expect(bench.revocation.revoked == [])
    }

    @Test func `G9: while another user is signed in, nothing is revoked by a handler that might affect that user`()
        async throws
    {
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
}
