import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Storage
import TestSupport
import Testing

@testable import TokenRefresh

/// G13: several engines over one stored session, in one process.
@Suite(.timeLimit(.minutes(10))) struct SharedStoreRaceTests {
    /// Where the session is stored.
    enum Place: CaseIterable, Sendable {
        case memory
        case file
    }

    /// Engines that share a place, each with a store of its own over it.
    private struct Fleet {
        let handler = ScriptedRefreshHandler()
        let temporary: TemporaryFolder
        let logs: [EventLog]
        let engines: [TokenRefreshCoordinator]
        let store: any SharedTokenStore

        init(_ count: Int, over place: Place) async throws {
            let memory = MemoryTokenStore()
            temporary = TemporaryFolder()
            let url = temporary.fresh()
            let open: () -> any SharedTokenStore = {
                switch place {
                case .memory: memory
                case .file: FileTokenStore(folder: url)
                }
            }
            let handler = handler
            // A store waits for its lease on the system's clock.
            var policy = TokenRefreshPolicy()
            policy.deadline = .seconds(86_400)
            let logs = (0..<count).map { _ in EventLog() }
            engines = logs.map { log in
                TokenRefreshCoordinator(over: open(), handler, policy: policy, events: log)
            }
            self.logs = logs
            store = open()
            try await store.save(.fixture())
        }

        func refuseEverywhere(_ token: SessionToken, times count: Int) -> [Bench.Request] {
            engines.flatMap { engine in
                (0..<count).map { _ in Task { try await engine.replacement(for: token) } }
            }
        }
    }

    @Test(arguments: Place.allCases, [2, 8])
    func `G13: engines that refresh at once make one call; those that waited for the lease adopt its tokens`(
        place: Place, count: Int
    ) async throws {
        let fleet = try await Fleet(count, over: place)
        for engine in fleet.engines { #expect(try await engine.token().name == "ada1 g0") }
        let gate = fleet.handler.holdNext()
        let requests = fleet.refuseEverywhere(try await fleet.engines[0].token(), times: 100)
        await gate.arrivals(atLeast: 1)
        for engine in fleet.engines {
            try await until { engine.core.withLock { $0.waiters.count } == 100 }
        }
        gate.open()
        #expect(try await requests.tokens().allSatisfy { $0.name == "ada1 g1" })
        #expect(fleet.handler.calls.map(\.ordinal) == [0])
        #expect(try await fleet.store.load()?.generation == 1)
        #expect(fleet.logs.map { $0.count("adopted") }.reduce(0, +) == count - 1)
        #expect(fleet.logs.allSatisfy { $0.count("signedOut") == 0 })
    }

    @Test(arguments: Place.allCases)
    func `G13: an engine that refreshes after another adopts its tokens without a call`(place: Place) async throws {
        let fleet = try await Fleet(2, over: place)
        let old = try await fleet.engines[1].token()
        #expect(try await fleet.engines[0].replacement(for: fleet.engines[0].token()).name == "ada1 g1")
        #expect(try await fleet.engines[1].replacement(for: old).name == "ada1 g1")
        #expect(fleet.handler.calls.count == 1)
        #expect(fleet.logs[1].count("adopted") == 1)
    }

    @Test func `G13: when the refresh token is refused because another process has spent it, its tokens are adopted`()
        async throws
    {
        let (bench, token) = try await Bench.withToken(.shared)
        let (gate, requests) = try await bench.startRefresh(of: token)
        // A process that takes no lease, such as an older version of the app.
        let result = try bench.server.refresh("refresh-ada1-0")
        let newer = TokenBundle(
            accessToken: result.accessToken,
            refreshToken: result.refreshToken,
            session: token.session,
            generation: 1
        )
        await bench.store.base.save(newer)
        gate.open()
        #expect(Set(await requests.outcomes()) == ["ada1 g1"])
        #expect(bench.engine.state == .signedIn(token.session))
        #expect(bench.store.base.bundle == newer)
    }

    @Test(arguments: Place.allCases)
    func `G13: a sign-out in one process ends the session in the other, without a call`(place: Place) async throws {
        let fleet = try await Fleet(2, over: place)
        let token = try await fleet.engines[1].token()
        _ = try await fleet.engines[0].restore()
        try await fleet.engines[0].signOut()
        let request = Task { try await fleet.engines[1].replacement(for: token) }
        #expect(await request.outcome() == "sessionEnded")
        #expect(fleet.engines[1].state == .signedOut(.byUser))
        #expect(fleet.handler.calls.isEmpty)
    }

    @Test(arguments: Place.allCases)
    func `G13, G23: a sign-in in one process replaces the session of the other, whose old requests fail`(place: Place)
        async throws
    {
        let fleet = try await Fleet(2, over: place)
        let token = try await fleet.engines[1].token()
        try await fleet.engines[0].signIn(fleet.handler.server.signIn("bob"))
        let request = Task { try await fleet.engines[1].replacement(for: token) }
        #expect(await request.outcome() == "sessionEnded")
        #expect(try await fleet.engines[1].token().name == "bob1 g0")
        #expect(fleet.engines[0].state == fleet.engines[1].state)
        #expect(fleet.handler.calls.isEmpty)
    }

    @Test func `G13: an engine whose save is superseded uses the stored tokens, and stops saving`() async throws {
        let (memory, handler, log, gate) = (
            MemoryTokenStore(holding: .fixture()), ScriptedRefreshHandler(), EventLog(), Gate()
        )
        let engine = TokenRefreshCoordinator(over: OwnTokenStore(base: memory), handler, events: log)
        handler.enqueue(.held(at: gate, then: .rotate))
        let request = Task { try await engine.replacement(for: engine.token()) }
        await gate.arrivals(atLeast: 1)
        try await memory.save(.fixture(generation: 2))
        gate.open()
        #expect(try await request.value.name == "ada1 g2")
        #expect(await memory.load()?.generation == 2)
        #expect(log.count("storeFailed") == 0)
        #expect(log.count("adopted") == 1)
    }

    @Test func `G13: engines that refresh in any order spend no refresh token twice and sign no user out`() async throws
    {
        let policy = {
            var policy = TokenRefreshPolicy()
            (policy.freshness, policy.deadline) = (.zero, .seconds(86_400))
            return policy
        }()
        let (store, handler, log) = (MemoryTokenStore(holding: .fixture()), ScriptedRefreshHandler(), EventLog())
        let engines = (0..<4).map { _ in
            TokenRefreshCoordinator(over: store, handler, policy: policy, events: log)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for engine in engines {
                group.addTask {
                    for _ in 0..<25 { _ = try await engine.replacement(for: engine.token()) }
                }
            }
            try await group.waitForAll()
        }
        #expect(handler.mostAtOnce == 1 && handler.server.reuses == 0)
        #expect(handler.calls.map(\.ordinal) == Array(0..<handler.calls.count))
        #expect(log.count("signedOut") == 0)
        #expect(await store.load()?.generation == handler.calls.count)
    }
}
