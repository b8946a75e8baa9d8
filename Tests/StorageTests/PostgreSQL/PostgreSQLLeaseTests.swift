#if PostgreSQL
import AuthInterface
import AuthTesting
import Foundation
import Testing

@testable import Storage

@Suite("G13: who holds the lease of a fleet, and who no longer does", .needsPostgreSQL, .timeLimit(.minutes(2)))
struct PostgreSQLLeaseTests {
    @Test func `a holder that is silent for too long loses the lease, and can write nothing after that`() async throws {
        let server = try await PostgreSQLServer.shared
        var limits = PostgreSQLLimits()
        limits.lease = .milliseconds(500)
        let mine = server.store(limits: limits)
        let theirs = server.store(mine.account)
        try await mine.save(.fleet(1))
        let late = try await mine.lease(waitingAtMost: .seconds(30))

        let next = try await theirs.lease(waitingAtMost: .seconds(30))
        try await next.save(.fleet(2))
        await next.release()

        #expect(await storeFailure { _ = try await late.load() }?.code == .leaseLost)
        #expect(await storeFailure { try await late.save(.fleet(3)) }?.code == .leaseLost)
        #expect(await storeFailure { try await late.delete() }?.code == .leaseLost)
        #expect(try await theirs.load() == .fleet(2))
        await late.release()
        await (try await mine.lease(waitingAtMost: .seconds(30))).release()
    }

    @Test func `a holder whose connection is cut is told so, and leaves the next one its lease`() async throws {
        let server = try await PostgreSQLServer.shared
        let mine = server.store()
        try await mine.save(.fleet(1))
        let lease = try await mine.lease(waitingAtMost: .zero)
        try await server.cutLease(of: mine)

        let next = try await server.store(mine.account).lease(waitingAtMost: .seconds(5))
        #expect(await storeFailure { try await lease.save(.fleet(2)) }?.code == .leaseLost)
        await lease.release()
        #expect(await storeFailure { _ = try await mine.lease(waitingAtMost: .zero) }?.code == .busy)
        #expect(try await next.load() == .fleet(1))
        await next.release()
    }

    @Test func `a lease that nobody keeps is let go of`() async throws {
        let store = try await PostgreSQLServer.shared.store()
        _ = try await store.lease(waitingAtMost: .zero)
        await (try await store.lease(waitingAtMost: .seconds(30))).release()
    }

    @Test func `the wait for a lease counts on the clock that was given`() async throws {
        let server = try await PostgreSQLServer.shared
        let holder = server.store()
        let lease = try await holder.lease(waitingAtMost: .zero)
        let time = ManualTimeSource()
        let waiter = Task {
            await storeFailure {
                _ = try await server.store(holder.account, time: time).lease(waitingAtMost: .seconds(3_600))
            }
        }
        await time.sleepers(atLeast: 1)
        time.advance(by: .seconds(3_600))
        #expect(await waiter.value?.code == .busy)
        await lease.release()
    }

    @Test func `one account's lease does not hold up another's`() async throws {
        let first = try await PostgreSQLServer.shared.store()
        let lease = try await first.lease(waitingAtMost: .zero)
        let other = try await first.store(for: first.account + "/other").lease(waitingAtMost: .zero)
        await other.release()
        await lease.release()
    }

    @Test func `after a restart only the holder from before gets the lease, until it has saved`() async throws {
        let server = try await PostgreSQLServer()
        var limits = PostgreSQLLimits()
        limits.recovery = .seconds(600)
        let mine = server.store("account", limits: limits)
        let theirs = server.store("account", limits: limits)
        try await mine.prepare()
        try await mine.save(.fleet(1))
        let lost = try await mine.lease(waitingAtMost: .zero)
        try await server.crash()
        try await server.start()

        #expect(await storeFailure { _ = try await theirs.lease(waitingAtMost: .zero) }?.code == .busy)
        #expect(await storeFailure { try await lost.save(.fleet(2)) }?.code == .leaseLost)
        await lost.release()
        #expect(await storeFailure { _ = try await theirs.lease(waitingAtMost: .zero) }?.code == .busy)
        let again = try await mine.lease(waitingAtMost: .zero)
        try await again.save(.fleet(2))
        await again.release()
        let next = try await theirs.lease(waitingAtMost: .zero)
        #expect(try await next.load() == .fleet(2))
        await next.release()
        await server.finish()
    }

    @Test func `a holder that does not come back after a restart is not waited for for ever`() async throws {
        let server = try await PostgreSQLServer()
        var limits = PostgreSQLLimits()
        limits.recovery = .milliseconds(500)
        let mine = server.store("account", limits: limits)
        try await mine.prepare()
        try await mine.save(.fleet(1))
        let lost = try await mine.lease(waitingAtMost: .zero)
        try await server.crash()
        try await server.start()
        let next = try await server.store("account", limits: limits).lease(waitingAtMost: .seconds(30))
        #expect(try await next.load() == .fleet(1))
        await next.release()
        await lost.release()
        await server.finish()
    }

    @Test func `a holder who had let go, or saved, before a restart keeps nobody waiting after it`() async throws {
        let server = try await PostgreSQLServer()
        let released = server.store("released")
        let saved = released.store(for: "saved")
        try await released.prepare()
        for store in [released, saved] { try await store.save(.fleet(1)) }
        await (try await released.lease(waitingAtMost: .zero)).release()
        let lease = try await saved.lease(waitingAtMost: .zero)
        try await lease.save(.fleet(2))
        try await server.crash()
        try await server.start()
        for account in ["released", "saved"] {
            await (try await server.store(account).lease(waitingAtMost: .zero)).release()
        }
        await lease.release()
        await server.finish()
    }
}

extension PostgreSQLServer {
    /// Ends the connection on which a store's lease is, and waits until it has gone.
    fileprivate func cutLease(of store: PostgreSQLTokenStore) async throws {
        let holders = """
            FROM pg_locks WHERE locktype = 'advisory' AND (classid::bigint << 32 | objid::bigint)
                = hashtextextended($1, 'latchkey_tokens'::regclass::oid::bigint)
            """
        try await run("SELECT pg_terminate_backend(pid) \(holders)", [.text(store.account)])
        try await wait(until: "SELECT NOT EXISTS (SELECT \(holders))", [.text(store.account)])
    }
}
#endif
