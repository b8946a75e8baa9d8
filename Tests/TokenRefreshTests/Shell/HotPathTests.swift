import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// G18, G3: a valid token costs nothing.
@Suite(.timeLimit(.minutes(10))) struct HotPathTests {
    @Test func `G18: a valid token causes no call of the store or the handler`() async throws {
        let bench = try await Bench.signedIn(.shared)
        let reads = bench.store.calls(.load)
        let steps = bench.engine.core.withLock { $0.nextNumber() }
        for _ in 0..<100_000 { _ = try await bench.engine.token() }
        #expect(bench.store.calls(.load) <= reads + 1, "at most one check, after the report of its own sign-in")
        #expect(bench.store.calls(.save) == 1 && bench.store.calls(.record) == 0 && bench.store.calls(.delete) == 0)
        #expect(bench.handler.calls.isEmpty)
        #expect(bench.engine.core.withLock { $0.nextNumber() } == steps + 1, "the machine was not asked either")
    }

    @Test func `G18: what is at hand is the token of a request, and must be asked for when it has to be refreshed`()
        async throws
    {
        #expect(Bench().engine.validToken == nil)
        let bench = try await Bench.signedIn()
        let token = try await bench.engine.token()
        #expect(bench.engine.validToken == token)
        bench.passToAhead()
        #expect(bench.engine.validToken == nil, "its refresh in the background begins with a request")
        try await bench.engine.signOut()
        #expect(bench.engine.validToken == nil)
    }

    @Test func `G18: no thread keeps a token, or its time, that the engine has not`() async throws {
        let start = ManualTimeSource().date
        let bench = Bench(holding: .stored("ada", 4, expiresAt: start + 3_600, clockSkew: 0.5))
        try await bench.engine.restore()
        let threads = (0..<9).map { _ in ThreadExecutor() }
        defer { for thread in threads { thread.end() } }
        func tokens() async -> Set<String?> {
            var tokens: Set<String?> = []
            for thread in threads {
                tokens.insert(await withTaskExecutorPreference(thread) { bench.engine.validToken?.name })
            }
            return tokens
        }
        #expect(await tokens() == [bench.store.base.bundle?.token.name])
        bench.engine.noteServerDate(start + 3_600)
        #expect(await tokens() == [nil], "it has expired on the server's clock")
        try await bench.engine.signIn(bench.server.signIn("ada"))
        let token = try await bench.engine.token()
        #expect(await tokens() == [token.name])
        _ = try await bench.engine.replacement(for: token)
        #expect(await tokens() == ["\(token.name.dropLast())1"])
        try await bench.engine.signOut()
        #expect(await tokens() == [nil])
    }

    @Test(arguments: [StoreOperation.lease, .load, .record, .save, nil])
    func `G37: a request whose token is valid does not wait for the refresh in the background`(
        held: StoreOperation?
    ) async throws {
        let (bench, token) = try await Bench.withToken(.shared)
        await bench.engine.settle()
        let gate = held.map { bench.store.hold($0, .before) } ?? bench.handler.holdNext()
        bench.passToAhead()
        #expect(try await bench.engine.token() == token)
        try await gate.arrivals(atLeast: 1)
        for _ in 0..<10 { #expect(try await bench.engine.token() == token) }
        gate.open()
        #expect(await bench.engine.settle())
        #expect(bench.handler.calls.count == 1 && bench.engine.validToken?.name == "ada1 g1")
    }

    @Test func `G37: nor for a check of the store, or for the revocation of another session`() async throws {
        let bench = try await Bench.signedIn(.shared)
        let revocation = bench.revocation.hold()
        let bob = bench.server.signIn("bob")
        try await bench.engine.signIn(bob)
        try await revocation.arrivals(atLeast: 1)
        let check = bench.store.hold(.load, .before)
        let restored = Task { try await bench.engine.restore() }
        try await check.arrivals(atLeast: 1)
        #expect(try await bench.engine.token().value == bob.accessToken)
        check.open()
        revocation.open()
        _ = try await restored.value
        #expect(await bench.engine.settle())
    }

    @Test func `a date that many responses have tells the time once, when it was new`() async throws {
        let bench = Bench()
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        bench.engine.noteServerDate(date)
        bench.clock.advance(by: .seconds(10))
        bench.engine.noteServerDate(date)
        try await bench.engine.signIn(TokenRefreshResult(accessToken: "access", expiresIn: .seconds(100)))
        #expect(bench.engine.status.expiresAt == date + 110)
    }

    @Test func `the buffer of the actions of a burst is not kept`() {
        let settings = MachineSettings(policy: .init(), isShared: false, owner: .current, tolerance: .none)
        var context = Context(settings: settings, random: .system)
        for number in 0..<10_000 { context.emit(.respond(WaiterID(number: number), .done)) }
        #expect(context.takeActions().count == 10_000)
        context.emit(.respond(WaiterID(number: 0), .done))
        #expect(context.takeActions().capacity < 100)
    }

    /// An actor that notices when others run while it waits for a token: then the call has suspended it.
    private actor Witness {
        private var isAsking = false
        private(set) var suspensions = 0

        func ask(_ engine: TokenRefreshCoordinator) async throws {
            isAsking = true
            _ = try await engine.token()
            isAsking = false
        }

        func pass() {
            if isAsking { suspensions += 1 }
        }
    }

    @Test func `G18: a valid token does not suspend its caller; one that must be refreshed does`() async throws {
        let bench = try await Bench.signedIn()
        let witness = Witness()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2_000 {
                group.addTask { try await witness.ask(bench.engine) }
                group.addTask { await witness.pass() }
            }
            try await group.waitForAll()
        }
        #expect(await witness.suspensions == 0)
        bench.clock.advance(by: .seconds(86_400))
        let gate = bench.handler.holdNext()
        let request = Task { try await witness.ask(bench.engine) }
        try await gate.arrivals(atLeast: 1)
        await witness.pass()
        #expect(await witness.suspensions == 1)
        gate.open()
        try await request.value
    }

    @Test func `G18: the hung refresh of one account, or its hung store, delays no other account`() async throws {
        let ada = try await Bench.signedIn(.shared)
        let (gate, waiting) = try await ada.startRefresh(of: try await ada.engine.token(), requests: 1_000)
        let eve = try await Bench.signedIn(.shared)
        let disk = eve.store.hold(.save)
        let stuck = eve.refuse(try await eve.engine.token(), times: 1_000)
        try await disk.arrivals(atLeast: 1)
        let bob = try await Bench.signedIn(.shared)
        let requests = bob.refuse(try await bob.engine.token(), times: 100)
        #expect(try await requests.tokens().allSatisfy { $0.name == "ada1 g1" })
        #expect(ada.handler.calls.count == 1 && ada.store.base.bundle?.generation == 0)
        gate.open()
        disk.open()
        _ = try await (waiting + stuck).tokens()
    }
}
