import AuthInterface
import CountingMalloc
import NIOConcurrencyHelpers
import TokenRefresh

/// Many requests that wait for one refresh.
enum StormBenchmark: Subject {
    static let name = "storm"
    static let summary =
        "That many tasks ask for another token at once, as a client does for a refused request; one refresh serves all. "
        + "Less a crowd that waits for a gate."

    static func measure() async throws -> [Measurement] {
        var found: [Measurement] = []
        var costOfOne: [Int: Double] = [:]
        for size in [1_000, 10_000, 100_000] {
            let costs = try await Comparison(works: works, count: size, rounds: size == 100_000 ? 5 : 11).costs()
            let own = Spread.difference(costs[1].processor, to: costs[0].processor)
            costOfOne[size] = own.median
            found.append(.init(name: "\(name)/\(size)", metric: .microseconds, value: own, goal: 3))
            let waiting = try await Usage.allocations { try await Self.crowd(size) }
            let refreshing = try await Usage.allocations { try await Self.storm(size) }
            let bytes = Double(refreshing.peak - waiting.peak) / Double(size)
            found.append(.init(name: "\(name)/\(size)", metric: .bytes, value: Spread(bytes), goal: 1_024))
        }
        if let few = costOfOne[1_000], let many = costOfOne[100_000] {
            let growth = Spread(many / few)
            found.append(.init(name: "\(name)/100,000 beside 1,000", metric: .processorRatio, value: growth, goal: 1.5))
        }
        return found
    }

    /// For a profiler: `perf record bench repeat storm/refresh 100000`.
    static func repeated() -> [(work: Work, count: Int)] { works.map { ($0, 10_000) } }

    private static let works = [
        Work(name: "\(name)/crowd") { try await crowd($0) }, Work(name: "\(name)/refresh") { try await storm($0) },
    ]

    /// Tasks that wait for one event, without an engine: what waiting itself costs.
    private static func crowd(_ count: Int) async throws {
        let gate = Gate()
        try await wait(count) {
            await gate.pass()
        } until: {
            gate.waiting == count
        } end: {
            gate.open()
        }
    }

    private static func storm(_ count: Int) async throws {
        let handler = HeldHandler()
        let engine = try await Session(handler: handler).engine
        let refusal = TokenRefusal(of: try await engine.token())
        let arrived = NIOLockedValueBox(0)
        try await wait(count) {
            arrived.withLockedValue { $0 += 1 }
            guard try await engine.replacement(after: refusal).generation == 1 else {
                throw BenchError("a wrong token")
            }
        } until: {
            arrived.withLockedValue { $0 } == count
        } end: {
            handler.release()
        }
        guard handler.calls == 1 else { throw BenchError("\(handler.calls) refreshes") }
    }

    private static func wait(
        _ count: Int, _ work: @escaping @Sendable () async throws -> Void, until isFull: @Sendable () -> Bool,
        end: @Sendable () -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try await work() } }
            while !isFull() { await Task.yield() }
            end()
            try await group.waitForAll()
        }
    }
}

/// Refreshes when it is released.
private final class HeldHandler: TokenRefreshHandler {
    private let gate = Gate()
    private let count = NIOLockedValueBox(0)

    var calls: Int { count.withLockedValue { $0 } }

    func release() { gate.open() }

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let number = count.withLockedValue {
            $0 += 1; return $0
        }
        await gate.pass()
        return .numbered(number)
    }
}

/// Holds tasks until it is opened.
private final class Gate: Sendable {
    private let state = NIOLockedValueBox((isOpen: false, tasks: [CheckedContinuation<Void, Never>]()))

    var waiting: Int { state.withLockedValue(\.tasks.count) }

    func pass() async {
        await withCheckedContinuation { task in
            let isOpen = state.withLockedValue { state in
                if !state.isOpen { state.tasks.append(task) }
                return state.isOpen
            }
            if isOpen { task.resume() }
        }
    }

    func open() {
        let tasks = state.withLockedValue { state in
            defer { state = (true, []) }
            return state.tasks
        }
        for task in tasks { task.resume() }
    }
}
