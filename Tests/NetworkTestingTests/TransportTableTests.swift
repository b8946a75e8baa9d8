#if os(Linux)
import Foundation
import NetworkTesting
import TestSupport
import Testing

/// The table in the article *Transports* says which rules of the contract `URLSessionTransport` does not keep on Linux.
/// The tests of `AsyncHTTPClientTransport` allow it no deviation.
@Suite(.timeLimit(.minutes(30))) struct TransportTableTests {
    /// What a rule showed, or what a cell of the table says.
    private enum Outcome {
        case kept
        case broken
        case endsProcess

        /// What a cell allows. None: it is not filled in.
        static func allowed(by cell: String) -> Set<Outcome> {
            switch cell {
            case "yes": [.kept]
            case "yes, or ends the process": [.kept, .endsProcess]
            case "ends the process": [.endsProcess]
            default: cell.hasPrefix("no: ") ? [.broken] : []
            }
        }
    }

    /// The processes that run at a time. Most rules wait more than they compute.
    private static let width = 6

    /// A process that takes longer has hung. Its rule has a shorter limit: a rule that should be broken may never end.
    private static let timeLimit: Duration = .seconds(900)
    private static let (ruleLimit, brokenRuleLimit) = (600, 15)

    /// Some rules end the process. Its backtrace would take longer than all the rules.
    private static let environment = ProcessInfo.processInfo.environment
        .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }

    @Test func `the table has rules of the contract, in order, that are not kept`() throws {
        let rows = try Self.rows()
        let named = Set(rows.map(\.rule))
        #expect(rows.map(\.rule) == TransportContract.rules.filter(named.contains))
        for row in rows {
            let allowed = Outcome.allowed(by: row.urlSession)
            #expect(!allowed.isEmpty && allowed != [.kept], "\(row.rule): \(row.urlSession)")
        }
    }

    @Test func `each rule shows with URLSession on Linux what the table says`() async throws {
        let deviations = try Dictionary(uniqueKeysWithValues: Self.rows().map { ($0.rule, $0.urlSession) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, rule) in TransportContract.rules.enumerated() {
                if index >= Self.width { try await group.next() }
                group.addTask {
                    let allowed = Outcome.allowed(by: deviations[rule] ?? "yes")
                    let limit = allowed == [.broken] ? Self.brokenRuleLimit : Self.ruleLimit
                    let (outcome, observed) = try await Self.outcome(of: rule, within: limit)
                    #expect(allowed.contains(outcome), "\(rule): \(observed)")
                }
            }
            try await group.waitForAll()
        }
    }

    /// Checks a rule in a process of its own.
    private static func outcome(of rule: String, within seconds: Int) async throws -> (Outcome, observed: String) {
        let peer = try SpawnedProcess(
            SpawnedProcess.peer, ["contract", rule, "\(seconds)"], environment: Self.environment)
        let watch = Task {
            try await ContinuousClock().sleep(for: timeLimit)
            peer.kill()
        }
        defer { watch.cancel() }
        let lines = await peer.remainingLines()
        let end = await peer.end()
        switch lines.first {
        case "kept" where end == .status(0): return (.kept, "kept")
        case let line? where line.hasPrefix("broken "): return (.broken, line)
        default: return (.endsProcess, "the process ended: \(end.map(String.init(describing:)) ?? "unknown")")
        }
    }

    /// The rules that `URLSessionTransport` does not keep on Linux, and what it does.
    private static func rows() throws -> [(rule: String, urlSession: String)] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = root.appendingPathComponent("Modules/NetworkTesting/NetworkTesting.docc/Transports.md")
        let lines = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
        let table = lines.drop { !$0.hasPrefix("|---") }.dropFirst().prefix { $0.hasPrefix("|") }
        return try table.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 2, "\(line)")
            return (cells[0], cells[1])
        }
    }
}
#endif
