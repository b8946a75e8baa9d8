#if PostgreSQL
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStorage

@Suite("Many accounts on few connections", .serialized, .needsPostgreSQL, .timeLimit(.minutes(15)))
struct PostgreSQLManyAccountsTests {
    /// The role may have 20 connections: one more would be an error in a process.
    @Test(arguments: PgBouncer.isFound ? [false, true] : [false])
    func `four processes refresh 200 accounts each on 20 connections in all, also through PgBouncer`(
        isPooled: Bool
    ) async throws {
        let server = try await PostgreSQLServer()
        try await server.admitFleet(connections: 20)
        let pooler = isPooled ? try await PgBouncer(before: server, as: "fleet", connections: 20) : nil
        let connection = pooler?.connection ?? server.fleetConnection
        let peers = try (0..<4).map { _ in try Peer(connection, accounts: 200, isWatching: false) }
        try await withThrowingTaskGroup(of: Peer.Result.self) { group in
            for peer in peers { group.addTask { try await peer.result() } }
            for try await result in group { #expect(result.refreshed == 200) }
        }
        for peer in peers { try await peer.finish() }
        let rows = try await server.run(
            "SELECT count(*), min(generation), max(generation), count(claim_owner) FROM latchkey_tokens")
        #expect((0...3).map { rows.integer($0) } == [200, 4, 4, 0], "a refresh was lost, or a lease not released")
        await pooler?.finish()
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
        #expect(result.refreshed == count)
        #expect((connections.integer(0) ?? 9) <= 5)
        let rate = Int(Double(count) / result.seconds)
        print("accounts: \(count) in one process, \(rate) refreshes/s, \(result.megabytes) MB at most")
        await server.finish()
    }

    /// A process that refreshes every account.
    private final class Peer: Sendable {
        struct Result {
            let refreshed: Int
            let seconds: Double
            let megabytes: Int
        }

        private let process: SpawnedProcess

        init(_ connection: String, accounts: Int, isWatching: Bool) throws {
            process = try SpawnedProcess(
                SpawnedProcess.peer,
                ["accounts", connection, "fleet", "\(accounts)", isWatching ? "yes" : "no"])
        }

        /// Starts the refreshes, none of which may fail, and waits for their counts.
        func result() async throws -> Result {
            try process.write("go\n")
            var said: [String] = []
            for await line in process.lines {
                if line == "end" { break }
                said.append(line)
            }
            let done = said.first { $0.hasPrefix("done ") } ?? ""
            let counts = done.split(separator: " ").compactMap { Double($0) }
            try #require(counts.count == 4 && counts[1] == 0, "\(said)")
            return Result(refreshed: Int(counts[0]), seconds: counts[2], megabytes: Int(counts[3]))
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
