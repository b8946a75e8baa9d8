import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// The real shell in random histories: engines of a registry that releases them, timers, activities, gates of store and
/// server, cancelled callers.
///
/// A seed decides what happens in which order; the system decides which task runs first. So the laws are those that hold
/// in each order. `SEED` and `WALKS` in the environment choose other histories, and more of them.
@Suite(.timeLimit(.minutes(10))) struct ShellWalkTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["SEED"].flatMap(UInt64.init) ?? 20_260_101
    private static let walks = environment["WALKS"].flatMap(Int.init) ?? 12

    @Test(arguments: [false, true])
    func `No history loses a session, or leaves anything in the shell`(isShared: Bool) async throws {
        var seeds = RandomDraws(Self.seed)
        for _ in 0..<Self.walks {
            let seed = seeds.next()
            let walk = ShellWalk(seed: seed, isShared: isShared)
            let broken = try await walk.run()
            #expect(broken == [], "walk \(seed), shared: \(isShared)\n\(walk.trace.joined(separator: "\n"))")
        }
    }
}

/// One history of the shell.
private final class ShellWalk {
    private typealias Account = Int

    private struct Made {
        weak var engine: TokenRefreshCoordinator?
    }

    private let isShared: Bool
    private var draws: RandomDraws
    private let clock = ManualTimeSource()
    private let store: FaultyTokenStore<RecordingTokenStore>
    private let engineStore: any TokenStore
    private let handler: ScriptedRefreshHandler
    private let activity = ActivityTests.ManualActivity()
    /// The processes: each has a registry, in which the account competes with others for one place.
    private let processes: [SessionRegistry<Account>]
    private let engines = Locked<[Made]>([])
    private var callers: [Task<String?, Never>] = []
    private var gates: [Gate] = []
    private var held: [TokenRefreshCoordinator] = []
    private var passed: Duration = .zero
    private(set) var trace: [String] = []
    private var broken: [String] = []

    init(seed: UInt64, isShared: Bool) {
        self.isShared = isShared
        draws = RandomDraws(seed)
        let (clock, activity) = (clock, activity)
        let server = RotatingTokenServer(lifetime: .seconds(900))
        let handler = ScriptedRefreshHandler(server: server)
        let (store, engines) = (FaultyTokenStore(RecordingTokenStore(holding: .fixture("eve1"), clock: clock)), engines)
        let own: any TokenStore = isShared ? store : OwnTokenStore(base: store)
        (self.handler, self.store, engineStore) = (handler, store, own)
        processes = (0..<(isShared ? 2 : 1)).map { _ in
            SessionRegistry(limit: 1) { account in
                let engine = TokenRefreshCoordinator(
                    store: account == 0 ? own : OwnTokenStore(base: RecordingTokenStore(clock: clock)),
                    handler: handler, clock: clock, activity: activity)
                engines.withLock { $0.append(Made(engine: engine)) }
                return engine
            }
        }
    }

    /// - Returns: The laws that were broken.
    func run() async throws -> [String] {
        for _ in 0..<80 {
            step()
            for _ in 0..<draws.pick(20) { await Task.yield() }
        }
        try await comeToRest()
        return broken
    }

    // MARK: Steps

    private func step() {
        let process = draws.pick(processes.count)
        switch draws.pick(20) {
        case ..<4: call(process, "token") { try await $0.token() }
        case ..<6: call(process, "refresh") { try await $0.refresh() }
        case ..<8:
            call(process, "replacement") { engine in
                try await engine.replacement(after: TokenRefusal(of: engine.token(), endpoint: "e"))
            }
        case ..<9: call(process, "restore") { try await $0.restore() }
        case ..<10:
            let tokens = handler.server.signIn(draws.of(["ada", "bob"]))
            call(process, "signIn") { try await $0.signIn(tokens) }
        case ..<11: call(process, "signOut") { try await $0.signOut() }
        case ..<12:
            if !callers.isEmpty { callers[draws.pick(callers.count)].cancel() }
        case ..<13:
            // Other accounts take the place of this one in the registry.
            for other in 1...3 { _ = processes[process][other] }
        case ..<14: hold(process)
        case ..<16: holdServer()
        case ..<17: changeStore()
        case ..<18: if isShared, draws.chance(30) { note("expiry") { activity.expire() } }
        case ..<19: openGate()
        default: advance(by: .milliseconds(draws.of([10, 500, 3_000])))
        }
    }

    private func note(_ text: String, _ body: () -> Void) {
        trace.append(text)
        body()
    }

    private func call<Value: Sendable>(
        _ process: Int,
        _ name: String,
        _ body: @escaping @Sendable (TokenRefreshCoordinator) async throws -> Value
    ) {
        trace.append("p\(process) \(name)")
        let registry = processes[process]
        callers.append(Task { await code { _ = try await body(registry[0]) } })
    }

    /// An application holds the engine for a while.
    private func hold(_ process: Int) {
        if held.count > 2 { held.removeFirst() } else { held.append(processes[process][0]) }
    }

    private func holdServer() {
        let gate = Gate()
        gates.append(gate)
        trace.append("server waits")
        switch draws.pick(4) {
        case 0: handler.enqueue(.held(at: gate, then: .rotate))
        case 1: handler.enqueue(.rotateThenHold(at: gate, ignoresCancellation: true))
        case 2: handler.enqueue(.failure(TokenRefreshError(.unavailable, status: 503)))
        default: handler.enqueue(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1), status: 503)))
        }
    }

    private func changeStore() {
        let operation = draws.of([StoreOperation.load, .save, .delete, .record])
        trace.append("store \(operation)")
        switch draws.pick(4) {
        case 0: store.fail(operation, times: 2)
        case 1:
            let gate = Gate()
            gates.append(gate)
            store.hold(operation, at: gate, draws.of([.before, .after]))
        default: store.recover(operation)
        }
    }

    private func openGate() {
        guard !gates.isEmpty else { return }
        gates.remove(at: draws.pick(gates.count)).open()
    }

    /// Time passes, and less than a call may take: a second call behind one that is held is no mistake then.
    private func advance(by duration: Duration) {
        guard passed + duration < .seconds(100) else { return }
        passed += duration
        trace.append("\(duration) pass")
        clock.advance(by: duration)
    }

    // MARK: The end

    private func comeToRest() async throws {
        for operation in StoreOperation.allCases { store.recover(operation) }
        for gate in gates { gate.open() }
        held = []
        let ended = Locked(0)
        let all = callers.count
        let waits = callers.map { caller in
            Task {
                let code = await caller.value
                ended.withLock { $0 += 1 }
                return code
            }
        }
        try await pass { ended.withLock { $0 } == all }
        for wait in waits {
            let code = await wait.value
            if !Self.allowed.contains(code) { broken.append("a call ended with \(code ?? "success")") }
        }
        try await settle()
        if handler.server.reuses > 0 { broken.append("a refresh token was used twice") }
        try await checkState()
        try await checkLeftovers()
    }

    /// The codes of calls of a session that no server has rejected.
    private static let allowed: Set<String?> = [
        nil, "cancelled", "notSignedIn", "sessionEnded", "refreshUnavailable", "storeUnavailable", "unauthorized",
    ]

    /// Time passes until a condition holds, and not while a call is under way: on a busy machine its limit would pass.
    private func pass(until condition: @Sendable () -> Bool) async throws {
        try await until {
            if condition() { return true }
            for _ in 0..<50 { await Task.yield() }
            let isCalling = engines.withLock { made in
                made.contains { $0.engine?.core.withLock { !$0.calls.isEmpty } ?? false }
            }
            if !isCalling { clock.advance(by: .seconds(1)) }
            return condition()
        }
    }

    private func settle() async throws {
        for process in processes {
            let isSettled = Locked(false)
            let settling = Task {
                let done = await process.settle(within: .seconds(1_000_000))
                isSettled.withLock { $0 = true }
                return done
            }
            try await pass { isSettled.withLock { $0 } }
            if await !settling.value { broken.append("a registry does not settle") }
        }
    }

    /// What an engine says is what the store holds.
    private func checkState() async throws {
        for process in processes {
            let state = try await process[0].restore()
            let stored = store.base.bundle?.session
            let isRight =
                switch state {
                case .signedIn(let session): session == stored
                case .signedOut: stored == nil
                case .unknown: false
                }
            if !isRight { broken.append("\(state), and the store holds \(stored?.rawValue ?? "none")") }
            if !process[0].status.isStored { broken.append("not stored") }
        }
    }

    private func checkLeftovers() async throws {
        for process in processes {
            let engine = process[0]
            try await pass {
                engine.core.withLock { core in
                    core.waiters.isEmpty && core.calls.isEmpty && core.leases.isEmpty && core.revocations.isEmpty
                        && core.subscribers.isEmpty && core.timers.count < 4
                }
            }
            process.release(0)
        }
        weak let last = processes.last?[0]
        for process in processes { process.release(0) }
        let place = StorePlace(of: engineStore)
        try await pass { last == nil && place.map { EnginesAtWork.count(at: $0) == 0 } ?? true }
        try await pass { [activity] in activity.running == 0 }
    }
}
