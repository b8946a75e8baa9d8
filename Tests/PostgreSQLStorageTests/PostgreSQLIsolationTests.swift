#if PostgreSQL
import ContractTesting
import AuthInterface
import ConcurrencyPrimitives
import TestSupport
import Testing

@testable import PostgreSQLStorage

@Suite("G18: one account's row, lock or key never delays another account", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PostgreSQLIsolationTests {
    private let server: PostgreSQLServer

    init() async throws { server = try await .shared }

    /// A call that waits for what does not come gives up soon. One that waits for nothing ends earlier on any machine.
    private static let hasty = PostgreSQLLimits.patient.with {
        ($0.call, $0.rowLock) = (.seconds(20), PostgreSQLLimits().rowLock)
    }

    @Test func `locked rows delay no other account's reads and updates`() async throws {
        let first = server.store(limits: .patient.with { $0.rowLock = PostgreSQLLimits().rowLock })
        let locked = (0..<8).map { first.store(for: "\(first.account)/locked/\($0)") }
        for store in locked { try await store.save(.fleet(1)) }
        let rows = "account LIKE '\(first.account)/locked/%'"
        let lock = try await server.hold("SELECT FROM latchkey_tokens WHERE \(rows) FOR UPDATE")
        let updates = locked.map { store in Task { try await store.save(.fleet(2)) } }
        // More than the locked updates need to reach their lock.
        for number in 0..<200 {
            let other = first.store(for: "\(first.account)/\(number)")
            #expect(try await other.holding(.fleet(number)).load() == .fleet(number))
        }
        for store in locked { #expect(try await store.load() == .fleet(1), "a locked row can be read") }
        try await lock.release()
        for update in updates { try await update.value }
        for store in locked { #expect(try await store.load() == .fleet(2)) }
    }

    @Test func `a call that waits for a locked row or table fails at its limit, and the error says why`() async throws {
        let table = try #require(PostgreSQLTable("a table that is locked"))
        let store = server.store(table: table)
        try await store.prepare()
        try await store.save(.fleet(1))
        let hasty = server.store(store.account, table: table, limits: Self.hasty)
        for (lock, words, call) in [
            ("SELECT FROM \(table.quoted) FOR UPDATE", "row", { try await hasty.save(.fleet(2)) }),
            ("LOCK TABLE \(table.quoted)", " ", { _ = try await hasty.load() }),
        ] as [(String, String, () async throws -> Void)] {
            let lock = try await server.hold(lock)
            await expectFailure(.busy, words, of: call)
            try await lock.release()
            #expect(try await store.load() == .fleet(1))
        }
    }

    @Test func `a slow cipher leaves a connection to readers, and an error names it to writers`() async throws {
        let cipher = GatedCipher()
        let limits = Self.hasty.with { ($0.connections, $0.cipher) = (2, .seconds(3_600)) }
        let store = server.store(cipher: cipher, limits: limits)
        let update = Task { try await store.save(.fleet(1)) }
        try await cipher.sealing.arrivals(atLeast: 1)
        let other = store.store(for: store.account + "/other")
        for _ in 0..<20 { #expect(try await other.load() == nil) }
        await expectFailure(.busy, "connections") { try await other.save(.fleet(1)) }
        cipher.sealing.open()
        try await update.value
    }

    @Test func `the number of waiting calls is limited, and a cancelled one leaves the queue`() async throws {
        let cipher = GatedCipher()
        let limits = PostgreSQLLimits.patient.with { ($0.connections, $0.waitingCalls) = (1, 1) }
        let store = server.store(cipher: cipher, limits: limits)
        let update = Task { try await store.save(.fleet(1)) }
        try await cipher.sealing.arrivals(atLeast: 1)
        let waiting = Task { try await store.load() }
        try await until { store.session.database.pool.waitingCalls > 0 }
        await expectFailure(.busy) { _ = try await store.load() }
        await expectCancellation(of: waiting)
        cipher.sealing.open()
        try await update.value
        #expect(try await store.load() == .fleet(1))
    }
}

/// A transaction of another program that holds a lock.
struct HeldLock: Sendable {
    fileprivate let connection: PooledConnection

    func release() async throws {
        try await connection.continueRun { open throws(PostgreSQLFailure) in open.rollBack() }
    }

    /// Releases the lock, and keeps what the statement has changed.
    func commit() async throws {
        try await connection.continueRun { open throws(PostgreSQLFailure) in try open.commit() }
    }
}

extension PostgreSQLServer {
    /// Runs a statement in a transaction that stays open.
    func hold(_ text: String) async throws -> HeldLock {
        let limits = PostgreSQLLimits.patient  // it waits for readers of a table, and is idle for long
        let connection = PooledConnection(
            ConnectionString(connection), limits: limits,
            reconnecting: ReconnectBackoff(limits.reconnection, clock: SystemTimeSource()))
        try await connection.run { open throws(PostgreSQLFailure) in
            try open.begin()
            try open.execute(PostgreSQLStatement(text: text))
        }
        return HeldLock(connection: connection)
    }
}
#endif
