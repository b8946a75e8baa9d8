import AuthInterface
import AuthTesting
import ContractTesting
import Testing

@testable import TokenRefresh

/// G9, G23: sign-outs and sign-ins during a refresh.
@Suite(.timeLimit(.minutes(10))) struct SessionChangeRaceTests {

    @Test func `G9: that revocation is cancelled before the tokens of the next session are stored`() async throws {
        let bench = try await Bench.signedIn()
        bench.revocation.affectsAll()
        let gate = bench.revocation.hold()
        let signOut = Task { try await bench.engine.signOut() }
        try await gate.arrivals(atLeast: 1)
        let save = bench.store.hold(.save, .before)
        let signIn = Task { try await bench.signIn("ada") }
        try await bench.revocation.cancellations(atLeast: 1)
        #expect(bench.engine.state == .signedOut(.byUser))
        save.open()
        gate.open()
        try await signOut.value
        _ = try await signIn.value
    }

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

    @Test func `G9: tokens that cannot be used are refused, and what is being revoked goes on being revoked`()
        async throws
    {
        let bench = try await Bench.signedIn()
        bench.revocation.affectsAll()
        let gate = bench.revocation.hold()
        let signOut = Task { try await bench.engine.signOut() }
        try await gate.arrivals(atLeast: 1)
        await #expect(throws: AuthenticationError.self) {
            try await bench.engine.signIn(TokenRefreshResult(accessToken: "", refreshToken: nil))
        }
        #expect(!bench.revocation.isCancelled)
        gate.open()
        try await signOut.value
    }

    @Test func `G9: while another user is signed in, nothing is revoked by a handler that might affect that user`()
        async throws
    {
        let (bench, token) = try await Bench.withToken()
        let (gate, _) = try await bench.startRefresh(of: token)
        bench.revocation.affectsAll()
        _ = try await bench.signIn("bob")
        gate.open()
        try await bench.events.first("responseDropped")
        try await bench.engine.signOut()
        #expect(bench.revocation.revoked == ["bob1 g0"])
    }

    private enum Login: CaseIterable { case here, steppingUp, elsewhere }

    @Test(arguments: [true, false], Login.allCases)
    private func `G9: a revocation that may end every session of the user is cancelled by the next sign-in`(
        isNarrow: Bool, login: Login
    ) async throws {
        let bench = try await Bench.signedIn(.shared)
        if !isNarrow { bench.revocation.affectsAll() }
        let gate = bench.revocation.hold()
        let signOut = Task { try await bench.engine.signOut() }
        try await gate.arrivals(atLeast: 1)
        switch login {
        case .here: _ = try await bench.signIn("ada")
        case .steppingUp: try await bench.engine.stepUp(bench.server.signIn("ada"))
        case .elsewhere: try await bench.other().signIn(bench.server.signIn("ada"))
        }
        if !isNarrow { try await bench.revocation.cancellations(atLeast: 1) }
        #expect(bench.revocation.isCancelled == !isNarrow)
        gate.open()
        try await signOut.value
        #expect(await bench.engine.settle())
        #expect(bench.revocation.revoked == ["ada1 g0"])
    }

    @Test(arguments: Bench.StoreKind.allCases, [StoreOperation.Moment.before, .after])
    func `G9: a sign-in while the last user's tokens are being stored leaves its own in the store`(
        kind: Bench.StoreKind, moment: StoreOperation.Moment
    ) async throws {
        let bench = try await Bench.signedIn(kind)
        let gate = bench.store.hold(.save, moment)
        let requests = bench.refuse(try await bench.engine.token(), times: 10)
        try await gate.arrivals(atLeast: 1)
        let tokens = bench.server.signIn("bob")
        let login = Task { [engine = bench.engine] in try await engine.signIn(tokens) }
        #expect(Set(await requests.outcomes()) == ["sessionEnded"])
        let early = bench.ask(times: 10)
        gate.open()
        try await login.value
        #expect(Set(await early.outcomes()) == ["bob1 g0"])
        #expect(bench.store.base.bundle?.token.name == "bob1 g0")
    }
}
