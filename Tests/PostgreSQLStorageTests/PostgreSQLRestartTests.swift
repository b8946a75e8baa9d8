#if PostgreSQL
import AuthInterface
import ContractTesting
import ConcurrencyPrimitives
import Testing

@testable import PostgreSQLStorage

@Suite(
    "S16: a restart of the database or the pooler in the middle of a refresh",
    .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PostgreSQLRestartTests {
    private let other = ProcessIdentity.other

    @Test func `after a restart of the server the holder keeps the lease, even with a short claim`() async throws {
        let server = try await PostgreSQLServer()
        let limits = PostgreSQLLimits.patient.with { $0.claim = .seconds(600) }
        let mine = try await server.store("account", limits: limits).holding(.fleet(1))
        let lease = try await mine.lease(waitingAtMost: .zero)
        try await server.crash()
        try await server.start()
        // The claim has lapsed while the server was down: its owner could not renew it.
        try await server.run(
            """
            UPDATE latchkey_tokens SET claim_heartbeat = claim_heartbeat - interval '1 hour',
                claim_expires = claim_expires - interval '1 hour'
            """
        )
        try await lease.expectKept(by: mine, before: server.store("account", limits: limits).owned(by: other))
        await server.finish()
    }

    @Test func `an update whose server restarts before the commit is made again, with one decision`() async throws {
        let server = try await PostgreSQLServer()
        let cipher = GatedCipher()
        let store = server.store(cipher: cipher)
        let calls = Locked(0)
        let update = Task {
            try await store.update { _ in
                calls.withLock { $0 += 1 }
                return .active(.fleet(1))
            }
        }
        try await cipher.sealing.arrivals(atLeast: 1)
        try await server.crash()
        cipher.sealing.open()
        try await server.start()
        try await update.value
        #expect(calls.withLock { $0 } == 1)
        #expect(try await store.load() == .fleet(1))
        await server.finish()
    }

    @Test func `a decision is not written over what another process has stored meanwhile`() async throws {
        let server = try await PostgreSQLServer.shared
        let cipher = GatedCipher()
        let store = server.named(cipher: cipher)
        let update = Task {
            await #expect(throws: TokenStoreError.self) { try await store.update { _ in .active(.fleet(1)) } }
        }
        try await cipher.sealing.arrivals(atLeast: 1)
        try await server.cutConnections(of: store.account)
        try await server.store(store.account).save(.fleet(7, session: "another"))
        cipher.sealing.open()
        #expect(await update.value?.code == .unavailable)
        #expect(try await store.load() == .fleet(7, session: "another"))
    }

    @Test(.needsPgBouncer) func `a pooler that restarts in a refresh loses neither lease nor session`() async throws {
        let server = try await PostgreSQLServer()
        let pooler = try await PgBouncer(before: server)
        let mine = pooler.store("account")
        try await mine.prepare()
        try await mine.save(.fleet(1))
        let lease = try await mine.lease(waitingAtMost: .zero)
        try await pooler.restart()
        try await lease.expectKept(by: mine, before: pooler.store("account").owned(by: other))
        await pooler.finish()
        await server.finish()
    }
}
#endif
