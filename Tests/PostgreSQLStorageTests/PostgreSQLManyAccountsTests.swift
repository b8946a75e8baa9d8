#if PostgreSQL
import AuthInterface
import Foundation
import Testing

@testable import PostgreSQLStorage

@Suite("Many accounts on few connections", .serialized, .needsPostgreSQL, .timeLimit(.minutes(15)))
struct PostgreSQLManyAccountsTests {
    /// The role may have 20 connections: one more would be an error. Each program has a pool of its own.
    @Test(arguments: PgBouncer.isFound ? [false, true] : [false])
    func `four programs refresh 200 accounts on 20 connections, also through PgBouncer`(isPooled: Bool) async throws {
        let server = try await PostgreSQLServer()
        try await server.admitFleet(connections: 20)
        let pooler = isPooled ? try await PgBouncer(before: server, as: "fleet", connections: 20) : nil
        let place = ConnectionTo(pooler?.connection ?? server.fleetConnection)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await refreshAll(place.accounts(200)) } }
            try await group.waitForAll()
        }
        let rows = try await server.run(
            "SELECT count(*), min(generation), max(generation), count(claim_owner) FROM latchkey_tokens")
        #expect((0...3).map { rows.integer($0) } == [200, 4, 4, 0], "a refresh was lost, or a lease not released")
        await pooler?.finish()
        await server.finish()
    }

    /// All of them at once with `LATCHKEY_ACCOUNTS=10000`; a tenth of them by default.
    @Test func `one program watches and refreshes thousands of accounts on five connections`() async throws {
        let count = ProcessInfo.processInfo.environment["LATCHKEY_ACCOUNTS"].flatMap(Int.init) ?? 1_000
        let server = try await PostgreSQLServer()
        try await server.admitFleet(connections: 5)
        let stores = ConnectionTo(server.fleetConnection).accounts(count)
        let watches = stores.map { store in Task { for await _ in store.changes {} } }
        let duration = try await ContinuousClock().measure { try await refreshAll(stores) }
        let connections = try await server.run("SELECT count(*) FROM pg_stat_activity WHERE usename = 'fleet'")
        #expect((connections.integer(0) ?? 9) <= 5)
        for watch in watches { watch.cancel() }
        print("accounts: \(count) in one program, \(Int(Double(count) / (duration / .seconds(1)))) refreshes/s")
        await server.finish()
    }

    /// Refreshes each account once, 200 at a time.
    private func refreshAll(_ stores: [PostgreSQLTokenStore]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, store) in stores.enumerated() {
                if number >= 200 { try await group.next() }
                group.addTask { try await store.refresh() }
            }
            try await group.waitForAll()
        }
    }
}

extension DatabaseAddress {
    /// The stores of a program, over one pool.
    fileprivate func accounts(_ count: Int) -> [PostgreSQLTokenStore] {
        let first = store("fleet", limits: .patient.with { $0.rowLock = PostgreSQLLimits().rowLock })
        return (0..<count).map { first.store(for: "fleet/\($0)") }
    }
}

extension PostgreSQLTokenStore {
    /// What the engine does with the store in one refresh.
    fileprivate func refresh() async throws {
        let lease = try await lease(waitingAtMost: .seconds(3_600))
        let current = try await read().bundle ?? .fleet(0)
        try await update { _ in .active(current.with(refreshIntent: .fleet(under: lease))) }
        try await save(.fleet(current.generation + 1))
        await lease.release()
    }
}

extension PostgreSQLServer {
    fileprivate var fleetConnection: String { "host=\(folder) user=fleet dbname=postgres" }

    fileprivate func admitFleet(connections: Int) async throws {
        try await run("CREATE ROLE fleet LOGIN CONNECTION LIMIT \(connections)")
        try await run("GRANT SELECT, INSERT, UPDATE, DELETE ON latchkey_tokens TO fleet")
    }
}
#endif
