import Foundation
import TokenRefresh

/// A valid token: the path that every request takes.
enum TokenBenchmark: Subject {
    static let name = "token"
    static let summary = "A valid token from the engine: alone, and from two threads at once."

    private static let shared = Task { try await Session().engine }

    private static let alone = Work(name: "\(name)/alone") { count in
        let engine = try await shared.value
        for _ in 0..<count { _ = try await engine.token() }
    }

    private static let contended = Work(name: "\(name)/two threads") { count in
        let engine = try await shared.value
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { for _ in 0..<count / 2 { _ = try await engine.token() } }
            }
            try await group.waitForAll()
        }
    }

    static func repeated() -> [(work: Work, count: Int)] { [(alone, 10_000)] }

    static func measure() async throws -> [Measurement] {
        let costs = try await Comparison(works: [alone, contended], count: 1_000_000).costs()
        // Two threads do half of the work each: at best half the time for a token.
        let each = costs[1].wall.map { $0 * 2 }
        return try await counts(goals: [alone.name: 0]) + [
            Measurement(
                name: alone.name, metric: .nanoseconds, value: Spread(costs[0].processor.map { $0 * 1_000 }),
                goal: 100),
            Measurement(
                name: contended.name, metric: .wallRatio, value: .ratio(each, to: costs[0].wall), goal: 2),
        ]
    }
}
