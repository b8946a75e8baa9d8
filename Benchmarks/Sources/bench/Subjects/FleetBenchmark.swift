import ArgumentParser
import AuthInterface
import Foundation
import PostgreSQLStorage
import Storage
import TokenRefresh

/// Many accounts in a database that processes share.
enum FleetBenchmark: Subject {
    static let name = "fleet"
    static let summary =
        "Four processes have so many accounts in PostgreSQL, over 20 connections in all, and refresh the tokens of "
        + "1,000 of them at once, with a token server that responds at once; the database waits for the disk. "
        + "Processor time is that of the four."

    private static let processes = 4
    /// The refreshes of one round.
    private static let refreshes = 1_000

    static func measure() async throws -> [Measurement] {
        guard let database = try Database() else {
            print("\(name): skipped, because \(Database.absence)")
            return []
        }
        var found = [
            Measurement(name: "\(name)/one refresh alone", metric: .microseconds, value: try await alone(in: database))
        ]
        var costs: [Comparison.Costs] = []
        for count in [1_000, 10_000] {
            let cost = try refresh(count, in: database)
            costs.append(cost)
            found += [
                .init(name: "\(name)/\(count)", metric: .perSecond, value: Spread(cost.wall.map { 1e6 / $0 })),
                .init(name: "\(name)/\(count)", metric: .microseconds, value: Spread(cost.processor)),
            ]
        }
        try database.end()
        for (metric, value) in [
            (Measurement.Metric.growth, Spread(costs[1].processor).median / Spread(costs[0].processor).median),
            (.wallRatio, Spread(costs[1].wall).median / Spread(costs[0].wall).median),
        ] {
            found.append(.init(name: "\(name)/10,000 beside 1,000", metric: metric, value: Spread(value)))
        }
        return found
    }

    /// How long a refresh takes where nothing else does something.
    private static func alone(in database: Database) async throws -> Spread {
        let engine = try await Session(store: database.store(for: "alone")).engine
        let work = Work(name: "alone") { count in for _ in 0..<count { try await engine.refresh() } }
        return Spread(try await Comparison(works: [work], count: 20).costs()[0].wall)
    }

    /// Each process has its share of the accounts, and refreshes some of them in each round, all at once.
    private static func refresh(_ count: Int, in database: Database) throws -> Comparison.Costs {
        let share = "\(refreshes / processes)"
        let workers = try (0..<processes).map { index in
            try Child("bench", ["accounts", database.connection, "\(index)", "\(processes)", "\(count)", share])
        }
        // They have signed in.
        for worker in workers { _ = worker.readLine() }
        var costs = Comparison.Costs()
        for round in 0...3 {
            let start = Usage.wallTime
            for worker in workers { try worker.write("go") }
            let times = workers.map { $0.readLine().flatMap(Double.init) }
            let wall = Usage.wallTime - start
            guard !times.contains(nil) else { throw BenchError("a process of the fleet has failed") }
            // The first round warms up.
            guard round > 0 else { continue }
            costs.wall.append(wall / Double(refreshes))
            costs.processor.append(times.compactMap(\.self).reduce(0, +) / Double(refreshes))
        }
        for worker in workers { try worker.end() }
        return costs
    }
}

/// One process of the fleet: it refreshes the next of its accounts for each line that it reads, and writes the
/// processor time that this took, in microseconds.
struct Accounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Refresh many accounts.", shouldDisplay: false)

    @Argument var connection: String
    @Argument var index: Int
    @Argument var processes: Int
    @Argument var count: Int
    @Argument var refreshes: Int

    func run() async throws {
        var limits = PostgreSQLLimits()
        // One more listens.
        limits.connections = 4
        let store = PostgreSQLTokenStore(connection: connection, cipher: UnencryptedTokenCipher(), limits: limits)
        try await store.prepare()
        let handler = CountingHandler()
        let sessions = SessionRegistry<String>(limit: count) { account in
            TokenRefreshCoordinator(store: store.store(for: account), handler: handler)
        }
        let names = stride(from: index, to: count, by: processes).map { "\(count)-\($0)" }
        try await forEach(names) { try await sessions[$0].signIn(.numbered(0)) }
        print("ready")
        fflush(nil)
        var next = 0
        while readLine() != nil {
            let due = (next..<next + refreshes).map { names[$0 % names.count] }
            next += refreshes
            let start = Usage.processorTime
            try await forEach(due) { try await sessions[$0].refresh() }
            print(Usage.processorTime - start)
            fflush(nil)
        }
    }

    /// Calls a function for each account, 32 at once.
    private func forEach(
        _ names: [String], _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, name) in names.enumerated() {
                if index >= 32 { try await group.next() }
                group.addTask { try await body(name) }
            }
            try await group.waitForAll()
        }
    }
}
