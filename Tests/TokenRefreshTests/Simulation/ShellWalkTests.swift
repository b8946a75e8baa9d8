import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// The real shell in random histories: engines of a registry that releases them, timers, activities, streams of changes
/// that end, gates of store and server, revocations, cancelled callers.
///
/// A seed decides what happens. Which task runs first is decided by the seed too, in a process of its own, and by the
/// system, on several threads at once. So the laws are those that hold in each order. `SEED` and `WALKS` in the
/// environment choose other histories, and more of them; `WALK` is the seed of a single one. The order of a dictionary
/// is decided by the process, unless the environment has `SWIFT_DETERMINISTIC_HASHING`.
@Suite(.timeLimit(.minutes(10))) struct ShellWalkTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["SEED"].flatMap(UInt64.init) ?? 20_260_101
    private static let walks = environment["WALKS"].flatMap(Int.init) ?? 12
    private static let walk = environment["WALK"].flatMap(UInt64.init)

    /// So many jobs of tasks no history has. One that waits for something that never happens has.
    private static let jobLimit = 2_000_000

    private static func seeds(_ count: Int) -> [UInt64] {
        if let walk { return [walk] }
        var draws = RandomDraws(seed)
        return (0..<count).map { _ in draws.next() }
    }

    @Test(arguments: [false, true])
    func `No history loses a session, or leaves anything in the shell`(isShared: Bool) async throws {
        for seed in Self.seeds(Self.walks) {
            let trace = Locked<[String]>([])
            let broken = try await ShellWalk(seed: seed, isShared: isShared, trace: trace).run()
            #expect(broken == [], "\(Self.text(of: trace, seed, isShared))")
        }
    }

    @Test(arguments: [false, true])
    func `Nor does any order of its tasks`(isShared: Bool) async {
        await #expect(processExitsWith: .success) { [isShared] in
            for seed in Self.seeds(25 * Self.walks) {
                let trace = Locked<[String]>([])
                let broken = await SeededTaskOrder.run(seed: seed, atMost: Self.jobLimit) {
                    (try? await ShellWalk(seed: seed, isShared: isShared, trace: trace).run()) ?? ["cancelled"]
                }
                guard broken != [] else { continue }
                Issue.record("\(broken ?? ["it does not end"]): \(Self.text(of: trace, seed, isShared))")
                exit(EXIT_FAILURE)
            }
        }
    }

    private static func text(of trace: Locked<[String]>, _ seed: UInt64, _ isShared: Bool) -> String {
        "walk \(seed), shared: \(isShared)\n" + trace.withLock { $0.joined(separator: "\n") }
    }
}

/// One history of the shell.
private final class ShellWalk {
    private typealias Account = Int

    private struct ServerRevocation: TokenRevocationHandler {
        let server: RotatingTokenServer
        let affectsRevokedSessionOnly = true
        let revoked = Locked<Set<SessionID>>([])

        func revoke(_ tokens: TokenBundle) async throws {
            server.revoke(tokens.accessToken)
            revoked.withLock { _ = $0.insert(tokens.session) }
        }
    }

    private struct Made {
        weak var engine: TokenRefreshCoordinator?
    }

    private let isShared: Bool
    /// Where the store can always be read, each session that it held is known to some engine.
    private let mayFailToLoad: Bool
    private var draws: RandomDraws
    private let clock = ManualTimeSource()
    private let store: FaultyTokenStore<RecordingTokenStore>
    private let engineStore: any TokenStore
    private let handler: ScriptedRefreshHandler
    private let activity = ManualActivity()
    /// The processes: each has a registry, in which the account competes with others for one place.
    private let processes: [SessionRegistry<Account>]
    private let engines = Locked<[Made]>([])
    private var callers: [Task<String?, Never>] = []
    private var gates: [(number: Int, gate: Gate)] = []
    private var gateCount = 0
    private var held: [TokenRefreshCoordinator] = []
    /// Each session that an engine was in. An observer hears of them in no order.
    private let sessions = Locked<Set<SessionID>>([])
    private let revoked: Locked<Set<SessionID>>
    private var passed: Duration = .zero
    private let trace: Locked<[String]>
    private var broken: [String] = []

    init(seed: UInt64, isShared: Bool, trace: Locked<[String]>) {
        self.isShared = isShared
        self.trace = trace
        draws = RandomDraws(seed)
        mayFailToLoad = draws.chance(50)
        let (clock, activity) = (clock, activity)
        let server = RotatingTokenServer(lifetime: .seconds(900))
        let handler = ScriptedRefreshHandler(server: server)
        let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture("eve1"), clock: clock))
        let (engines, sessions, revocation) = (engines, sessions, ServerRevocation(server: server))
        revoked = revocation.revoked
        let own: any TokenStore = isShared ? store : OwnTokenStore(base: store)
        (self.handler, self.store, engineStore) = (handler, store, own)
        processes = (0..<(isShared ? 2 : 1)).map { _ in
            SessionRegistry(limit: 1) { account in
                engines.withLock { engines in
                    let engine = TokenRefreshCoordinator(
                        store: account == 0 ? own : OwnTokenStore(base: RecordingTokenStore(clock: clock)),
                        handler: handler, revocation: revocation, policy: TokenRefreshPolicy(), clock: clock,
                        activity: activity, random: .seeded(SplitMix64(seed: seed &+ UInt64(engines.count))),
                        observer: { [number = engines.count] event in
                            trace.withLock { $0.append("engine \(number): \(event)") }
                            if case .signedIn(let session) = event { sessions.withLock { _ = $0.insert(session) } }
                        })
                    engines.append(Made(engine: engine))
                    return engine
                }
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
            let login = RotatingTokenServer.login(of: tokens.accessToken) ?? ""
            call(process, "signIn \(login)") { try await $0.signIn(tokens) }
        case ..<11: call(process, "signOut") { try await $0.signOut() }
        case ..<12:
            guard !callers.isEmpty else { return }
            let caller = draws.pick(callers.count)
            note("#\(caller) is cancelled")
            callers[caller].cancel()
        case ..<13:
            note("p\(process) evicts")
            // Other accounts take the place of this one in the registry.
            for other in 1...3 { _ = processes[process][other] }
        case ..<14: hold(process)
        case ..<16: holdServer()
        case ..<17: changeStore()
        case ..<18:
            guard isShared, draws.chance(30) else { return }
            note("the activities expire")
            activity.expire()
        case ..<19: openGate()
        default: advance(by: .milliseconds(draws.of([10, 500, 3_000])))
        }
    }

    private func note(_ text: String) { trace.withLock { $0.append(text) } }

    private func call<Value: Sendable>(
        _ process: Int,
        _ name: String,
        _ body: @escaping @Sendable (TokenRefreshCoordinator) async throws -> Value
    ) {
        let (registry, number, trace) = (processes[process], callers.count, trace)
        note("p\(process) #\(number) \(name)")
        callers.append(
            Task {
                let code = await code { _ = try await body(registry[0]) }
                trace.withLock { $0.append("#\(number) ends: \(code ?? "success")") }
                return code
            })
    }

    /// An application holds the engine for a while.
    private func hold(_ process: Int) {
        note("p\(process) is held, or no longer")
        if held.count > 2 { held.removeFirst() } else { held.append(processes[process][0]) }
    }

    private func holdServer() {
        switch draws.pick(4) {
        case 0: handler.enqueue(.held(at: newGate("the server waits"), then: .rotate))
        case 1: handler.enqueue(.rotateThenHold(at: newGate("the response waits"), ignoresCancellation: true))
        case 2: handler.enqueue(.failure(TokenRefreshError(.unavailable, status: 503)))
        default: handler.enqueue(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1), status: 503)))
        }
    }

    private func changeStore() {
        let operation = draws.of([StoreOperation.load, .save, .delete, .record, .watch])
        switch draws.pick(4) {
        case 0:
            guard operation != .load || mayFailToLoad else { return }
            note("\(operation) fails")
            store.fail(operation, times: 2)
        case 1:
            let moment = draws.of([StoreOperation.Moment.before, .after])
            store.hold(operation, at: newGate("\(moment) \(operation) the store waits"), moment)
        default:
            note("\(operation) works")
            store.recover(operation)
        }
    }

    private func newGate(_ text: String) -> Gate {
        note("gate \(gateCount): \(text)")
        let gate = Gate()
        gates.append((gateCount, gate))
        gateCount += 1
        return gate
    }

    private func openGate() {
        guard !gates.isEmpty else { return }
        let (number, gate) = gates.remove(at: draws.pick(gates.count))
        note("gate \(number) opens")
        gate.open()
    }

    /// Time passes, and less than a call may take: a second call behind one that is held is no mistake then. None
    /// passes during a revocation, which no gate holds: only a busy machine would let its limit pass.
    private func advance(by duration: Duration) {
        guard passed + duration < .seconds(100), !isAnyEngine({ !$0.revocations.isEmpty }) else { return }
        passed += duration
        note("\(duration) pass")
        clock.advance(by: duration)
    }

    private func isAnyEngine(_ condition: (borrowing CoordinatorCore) -> Bool) -> Bool {
        engines.withLock { made in made.contains { $0.engine?.core.withLock { condition($0) } ?? false } }
    }

    // MARK: The end

    private func comeToRest() async throws {
        note("everything works again")
        for operation in StoreOperation.allCases { store.recover(operation) }
        for (_, gate) in gates { gate.open() }
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
        try await follow()
        checkRevocations()
        if handler.server.reuses > 0 { broken.append("a refresh token was used twice") }
        try await checkState()
        try await checkLeftovers()
    }

    /// The codes of calls of a session that no server has rejected.
    private static let allowed: Set<String?> = [
        nil, "cancelled", "notSignedIn", "sessionEnded", "refreshUnavailable", "storeUnavailable", "unauthorized",
    ]

    /// Time passes until a condition holds, and not while a refresh or a revocation is under way: on a busy machine its
    /// limit would pass before its task has run.
    private func pass(until condition: @Sendable () -> Bool) async throws {
        try await until {
            if condition() { return true }
            for _ in 0..<50 { await Task.yield() }
            if !isAnyEngine({ !$0.calls.isEmpty || !$0.revocations.isEmpty }) { clock.advance(by: .seconds(1)) }
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

    /// What the watcher has to notice is noticed, whichever streams have ended (G5, G13).
    private func follow() async throws {
        let engines = engines.withLock { $0.compactMap(\.engine) }
        guard isShared else { return }
        try await pass { [store] in
            engines.allSatisfy { $0.state == .unknown || Self.stored($0.state) == store.base.bundle?.session }
        }
    }

    /// The session that a store holds to which a state is true.
    private static func stored(_ state: SessionState) -> SessionID? {
        if case .signedIn(let session) = state { session } else { nil }
    }

    /// G9. Each session but the last is revoked, where no other process replaces a sign-in.
    private func checkRevocations() {
        guard !isShared, !mayFailToLoad else { return }
        let ended = sessions.withLock(\.self).filter { $0 != store.base.bundle?.session }
        for session in ended.subtracting(revoked.withLock(\.self)) {
            broken.append("\(session.rawValue) is not revoked")
        }
    }

    /// What an engine says is what the store holds.
    private func checkState() async throws {
        for process in processes {
            let state = try await process[0].restore()
            let stored = store.base.bundle?.session
            if state == .unknown || Self.stored(state) != stored {
                broken.append("\(state), and the store holds \(stored?.rawValue ?? "none")")
            }
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
