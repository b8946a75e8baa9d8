import AuthInterface
import Foundation
import NIOConcurrencyHelpers
import NetworkAsyncHTTPClient
import NetworkCore
import Storage
import TokenRefresh

/// What one costs when there are more.
enum GrowthBenchmark: Subject {
    static let name = "growth"
    static let summary =
        "Processor time of one request, one waiter, one session, one KB, one event, where there are 10, 100 and 1,000 "
        + "times as many as the number in brackets, beside the cost where there are that many."

    private static let times = [1, 10, 100, 1_000]

    /// Something of which there can be more.
    private struct Quantity {
        let name: String
        /// The fewest.
        let base: Int
        /// How many are measured in one round, at every size.
        let total: Int
        /// Does it with so many at once.
        let run: @Sendable (_ size: Int) async throws -> Void
    }

    static func measure() async throws -> [Measurement] {
        let server = try Server()
        // It ends when it is released.
        defer { withExtendedLifetime(server) {} }
        var found: [Measurement] = []
        for quantity in try await quantities(server.url) {
            let works = times.map { times in
                Work(name: "\(name)/\(quantity.name) (\(quantity.base))/\(times) times") { count in
                    let size = quantity.base * times
                    for _ in 0..<count / size { try await quantity.run(size) }
                }
            }
            let costs = try await Comparison(works: works, count: quantity.total).costs()
            found.append(.init(name: works[0].name, metric: .microseconds, value: Spread(costs[0].processor)))
            found += zip(works, costs).dropFirst().map { work, cost in
                .init(name: work.name, metric: .growth, value: .ratio(cost.processor, to: costs[0].processor))
            }
        }
        return try found + instructions()
    }

    /// A token from one of few sessions, and of many. They are made once in each run, which does not count.
    static func repeated() -> [(work: Work, count: Int)] {
        [1, 1_000].map { times in
            let size = 10 * times
            let work = Work(name: "\(name)/sessions with a token (10)/\(times) times") { count in
                let registry = try await registry(size)
                for turn in 0..<count { _ = try await registry[turn % size].token() }
            }
            return (work, 100_000)
        }
    }

    /// Whether many of them need more work, or only more time.
    private static func instructions() throws -> [Measurement] {
        try repeated().compactMap { work, count in
            try Instructions.perRepetition(of: work.name, count: count).map {
                .init(name: work.name, metric: .instructions, value: Spread($0))
            }
        }
    }

    private static func quantities(_ server: URL) async throws -> [Quantity] {
        let client = NetworkClient(baseURL: server, transport: AsyncHTTPClientTransport())
        var registries: [Int: SessionRegistry<Int>] = [:]
        for times in times { registries[10 * times] = try await registry(10 * times) }
        var streams: [Int: PieceTransport] = [:]
        for times in times { streams[100 * times] = .events(100 * times, length: 100) }
        return [
            Quantity(name: "requests at once", base: 1, total: 1_000) { size in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<size {
                        group.addTask { _ = try await client.send(Endpoint<Article>.get("1024")) }
                    }
                    try await group.waitForAll()
                }
            },
            Quantity(name: "waiters of a refresh", base: 10, total: 10_000) { try await wait($0) },
            Quantity(name: "sessions that are made", base: 1, total: 1_000) { _ = try await registry($0) },
            Quantity(name: "sessions with a token", base: 10, total: 10_000) { [registries] size in
                guard let registry = registries[size] else { return }
                for account in 0..<size { _ = try await registry[account].token() }
            },
            Quantity(name: "KB of a body", base: 10, total: 40_000) { size in
                let body = try await client.send(Endpoint<Data>.get("bytes/\(size * 1_024)"))
                guard body.count == size * 1_024 else { throw BenchError("\(body.count) bytes") }
            },
            Quantity(name: "events of a stream", base: 100, total: 100_000) { [streams] size in
                guard let source = streams[size] else { return }
                guard try await source.readEvents() == size else { throw BenchError("events are missing") }
            },
        ]
    }

    /// A registry whose sessions are all signed in.
    private static func registry(_ size: Int) async throws -> SessionRegistry<Int> {
        let handler = CountingHandler()
        let registry = SessionRegistry<Int>(limit: size) { _ in
            TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
        }
        for account in 0..<size { try await registry[account].signIn(.numbered(account)) }
        return registry
    }

    /// One refresh that starts when the first task asks, and ends when all wait for it.
    private static func wait(_ size: Int) async throws {
        let handler = PatientHandler()
        let engine = try await Session(handler: handler).engine
        let refused = try await engine.token()
        let arrived = NIOLockedValueBox(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<size {
                group.addTask {
                    arrived.withLockedValue { $0 += 1 }
                    guard try await engine.replacement(for: refused).generation == 1 else {
                        throw BenchError("a wrong token")
                    }
                }
            }
            while arrived.withLockedValue({ $0 }) < size { await Task.yield() }
            handler.release()
            try await group.waitForAll()
        }
    }
}

/// Refreshes when it is released.
private struct PatientHandler: TokenRefreshHandler {
    private let held = AsyncStream.makeStream(of: Void.self)

    func release() { held.continuation.finish() }

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        for await _ in held.stream {}
        return .numbered(1)
    }
}
