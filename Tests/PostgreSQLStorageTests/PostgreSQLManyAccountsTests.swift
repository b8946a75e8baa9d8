#if PostgreSQL
import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStorage

@Suite("Many accounts on few connections", .serialized, .needsPostgreSQL, .timeLimit(.minutes(15)))
struct PostgreSQLManyAccountsTests {
    private static let accounts = 200

    /// The last output of a process.
    private struct Result {
        let refreshed: Int
        let failed: Int
        let seconds: Double
        let megabytes: Int
        let said: [String]
    }

    @Test func `four processes refresh 200 accounts each on 20 connections in all, without a failure`() async throws {
        let server = try await PostgreSQLServer()
        try await server.admitFleet(connections: 20)
        try await refreshEverywhere(server, at: server.fleetConnection, "directly")
        await server.finish()
    }

    @Test(.needsPgBouncer)
    func `four processes refresh 200 accounts each through PgBouncer on 20 connections, without a failure`()
        async throws
    {
        let server = try await PostgreSQLServer()
        try await server.admitFleet(connections: 20)
        let pooler = try await PgBouncer(before: server, as: "fleet", connections: 20)
        try await refreshEverywhere(server, at: pooler.connection, "through PgBouncer")
        await pooler.finish()
        await server.finish()
    }

    /// All of them at once with `LATCHKEY_ACCOUNTS=10000`; a tenth of them by default.
    @Test func `one process watches and refreshes thousands of accounts on five connections`() async throws {
        let count = ProcessInfo.processInfo.environment["LATCHKEY_ACCOUNTS"].flatMap(Int.init) ?? 1_000
        let server = try await PostgreSQLServer()
        try await server.admitFleet(connections: 5)
        let peer = try Peer(server.fleetConnection, accounts: count, isWatching: true)
        let result = try await peer.result()
        let connections = try await server.run("SELECT count(*) FROM pg_stat_activity WHERE usename = 'fleet'")
        try await peer.finish()
        #expect(result.refreshed == count && result.failed == 0, "\(result.said)")
        #expect((connections.integer(0) ?? 9) <= 5)
        print(
            "accounts: \(count) in one process, \(connections.integer(0) ?? -1) connections, "
                + "\(Int(Double(count) / result.seconds)) refreshes/s, \(result.megabytes) MB at most"
        )
        await server.finish()
    }

    /// The role may have 20 connections: one more would be an error in a process.
    private func refreshEverywhere(_ server: PostgreSQLServer, at connection: String, _ way: String) async throws {
        let peers = try (0..<4).map { _ in try Peer(connection, accounts: Self.accounts, isWatching: false) }
        let results = try await withThrowingTaskGroup(of: Result.self) { group in
            for peer in peers { group.addTask { try await peer.result() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // The superuser has a connection of its own while the processes have theirs.
        let connections = try await server.run("SELECT count(*) FROM pg_stat_activity WHERE usename = 'fleet'")
        for peer in peers { try await peer.finish() }
        #expect(results.map(\.failed) == [0, 0, 0, 0], "\(results.flatMap(\.said))")
        let rows = try await server.run(
            "SELECT count(*), min(generation), max(generation), count(claim_owner) FROM latchkey_tokens")
        let counts = (0...3).map { rows.integer($0) }
        #expect(counts == [Int64(Self.accounts), 4, 4, 0], "a refresh was lost, or a lease not released")
        let (refreshed, seconds) = (results.map(\.refreshed).reduce(0, +), results.map(\.seconds).max() ?? 0)
        print(
            "accounts: 4 processes × \(Self.accounts) \(way), "
                + "\(connections.integer(0) ?? -1) connections, \(refreshed) refreshes in \(seconds) s"
        )
    }

    /// A process that refreshes every account.
    private final class Peer: Sendable {
        private let process: SpawnedProcess

        init(_ connection: String, accounts: Int, isWatching: Bool) throws {
            process = try SpawnedProcess(
                SpawnedProcess.peer,
                ["accounts", connection, "fleet", "\(accounts)", "200", "1", isWatching ? "yes" : "no"])
        }

        /// Starts the refreshes, and waits for their counts.
        func result() async throws -> Result {
            try process.write("go\n")
            var said: [String] = []
            for await line in process.lines {
                if line == "end" { break }
                said.append(line)
            }
            let words = said.first { $0.hasPrefix("done ") }?.split(separator: " ").map(String.init) ?? []
            guard words.count == 5, let refreshed = Int(words[1]), let failed = Int(words[2]),
                let seconds = Double(words[3]), let megabytes = Int(words[4])
            else { return Result(refreshed: 0, failed: -1, seconds: 0, megabytes: 0, said: said) }
            return Result(refreshed: refreshed, failed: failed, seconds: seconds, megabytes: megabytes, said: said)
        }

        func finish() async throws {
            try process.finishInput()
            _ = await process.end()
        }
    }
}

extension PostgreSQLServer {
    fileprivate var fleetConnection: String { "host=\(folder) user=fleet dbname=postgres" }

    /// Creates a role with a limited number of connections.
    fileprivate func admitFleet(connections: Int) async throws {
        try await run("CREATE ROLE fleet LOGIN CONNECTION LIMIT \(connections)")
        try await run("GRANT SELECT, INSERT, UPDATE, DELETE ON latchkey_tokens TO fleet")
    }
}
#endif
