#if PostgreSQL
import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import TestSupport
import Testing
import TokenRefresh

@testable import PostgreSQLStorage

/// Claims whose owner could not renew them, and rows that a person or a backup has written, during a refresh.
@Suite(
    "Rule 4: a claim that has lapsed or is missing is no proof of its release", .needsPostgreSQL,
    .timeLimit(.minutes(10)))
struct PostgreSQLVanishedClaimTests {
    private let server: PostgreSQLServer

    init() async throws { server = try await .shared }

    /// What happens to the row during a call, as SQL. `kept` is a copy from before the refresh.
    enum Change: String, CaseIterable, Sendable {
        case claimLapsed = """
            UPDATE latchkey_tokens SET claim_heartbeat = clock_timestamp() - interval '2 seconds',
                claim_expires = clock_timestamp() - interval '1 second' WHERE account = $1
            """
        case claimVanished = """
            UPDATE latchkey_tokens SET claim_owner = NULL, claim_heartbeat = NULL, claim_expires = NULL,
                lapsed_owners = '{}' WHERE account = $1
            """
        case claimVanishedUnnoticed = """
            UPDATE latchkey_tokens SET claim_owner = NULL, claim_heartbeat = NULL, claim_expires = NULL,
                lapsed_owners = '{}', last_writer = txid_current() WHERE account = $1
            """
        case rowDeleted = "DELETE FROM latchkey_tokens WHERE account = $1"
        case claimLostItsDates = """
            UPDATE latchkey_tokens SET claim_heartbeat = NULL, claim_expires = NULL WHERE account = $1
            """
        case rowRestored = """
            DELETE FROM latchkey_tokens WHERE account = $1;
            UPDATE latchkey_tokens SET account = $1 WHERE account = $1 || '/copy'
            """
        case rowOverwritten = """
            UPDATE latchkey_tokens AS new SET version = old.version, generation = old.generation,
                ciphertext = old.ciphertext, claim_owner = old.claim_owner, claim_fence = old.claim_fence,
                claim_heartbeat = old.claim_heartbeat, claim_expires = old.claim_expires,
                lapsed_owners = old.lapsed_owners, released_fences = old.released_fences,
                last_writer = old.last_writer, unclaimed_until = old.unclaimed_until
            FROM latchkey_tokens AS old WHERE new.account = $1 AND old.account = $1 || '/copy'
            """
    }

    static let changes =
        Change.allCases.map { (change: $0, process: ProcessIdentity.current) }
        + [(.claimLapsed, ProcessIdentity.other)]

    @Test(arguments: changes)
    func `G8, G13: in a call no other engine spends the token`(change: Change, process: ProcessIdentity) async throws {
        let limits = PostgreSQLLimits.patient.with { $0.heartbeat = .seconds(1_800) }
        let mine = try await server.store(limits: limits).holding(.fixture())
        await (try await mine.lease(waitingAtMost: .zero)).release()
        try await server.copyRow(of: mine.account)
        var policy = TokenRefreshPolicy()
        policy.deadline = .milliseconds(200)  // how long it waits for the lease
        let theirs = server.store(mine.account, limits: limits).owned(by: process)
        let others = ScriptedRefreshHandler()
        let other = TokenRefreshCoordinator(store: theirs, handler: others, policy: policy, clock: ManualTimeSource())
        // A deletion says something only to a process that has read the row.
        if change == .rowDeleted { _ = try await other.restore() }
        let gate = Gate()
        let engine = TokenRefreshCoordinator(
            store: mine, handler: ScriptedRefreshHandler(.rotateThenHold(at: gate)), clock: ManualTimeSource())
        let refresh = Task { _ = try await engine.refresh() }
        try await gate.arrivals(atLeast: 1)
        try await server.edit(change.rawValue, mine.account)
        for _ in 1...2 {
            let failure = await #expect(throws: AuthenticationError.self) { try await other.refresh() }
            let isUnavailable = failure?.code == .refreshUnavailable || failure?.code == .storeUnavailable
            #expect(isUnavailable || change == .rowDeleted)
        }
        #expect(others.calls.isEmpty)

        gate.open()
        try await refresh.value
        #expect(try await theirs.load()?.generation == 1)
        let later = TokenRefreshCoordinator(store: theirs, handler: others, clock: ManualTimeSource())
        #expect(try await later.token().generation == 1)
        #expect(others.calls.isEmpty)
    }

    @Test(arguments: [Change.claimVanished, .claimLostItsDates, .rowRestored, .rowOverwritten, .rowDeleted])
    func `the holder of a claim that vanished renews it, and others wait for its release`(change: Change) async throws {
        let clock = ManualTimeSource()
        let mine = try await server.store(clock: clock).holding(.fleet(1))
        await (try await mine.lease(waitingAtMost: .zero)).release()
        try await server.copyRow(of: mine.account)
        let theirs = server.store(mine.account)
        let isDeleted = change == .rowDeleted
        // A deletion says something only to a process that has read the row.
        if isDeleted { #expect(try await theirs.load() != nil) }
        let lease = try await mine.lease(waitingAtMost: .zero)
        try await server.edit(change.rawValue, mine.account)
        let isClaimed = "SELECT count(claim_expires) > 0 FROM latchkey_tokens WHERE account = $1"
        #expect(try await !server.run(isClaimed, [.text(mine.account)]).flag(0))
        if !isDeleted {
            await expectFailure(.busy) { _ = try await theirs.lease(waitingAtMost: .zero) }
        }
        try await clock.advance(by: PostgreSQLLimits().heartbeat, whenAsleep: 1)
        try await until { try await server.run(isClaimed, [.text(mine.account)]).flag(0) }
        #expect(!lease.isLost)
        await expectFailure(.busy) { _ = try await theirs.lease(waitingAtMost: .zero) }
        if isDeleted { try await mine.save(.fleet(2)) }
        await lease.release()
        if !isDeleted { try await server.set("unclaimed_until = NULL, last_writer = NULL", of: mine.account) }
        let next = try await theirs.lease(waitingAtMost: .zero)
        #expect(!next.mayStillCall(.fleet(under: lease)))
        await next.release()
    }

    @Test func `a late release of a claim that had lapsed hides no change by others`() async throws {
        let mine = try await server.store(clock: ManualTimeSource()).holding(.fleet(1))
        let lapsed = try await mine.lease(waitingAtMost: .zero)
        try await server.edit(Change.claimLapsed.rawValue, mine.account)
        // Not before the server has been up for the life of the claim.
        let current = try await server.store(mine.account).lease(waitingAtMost: .seconds(3_600))
        try await server.edit(Change.claimVanished.rawValue, mine.account)
        await lapsed.release()
        let other = server.store(mine.account)
        await expectFailure(.busy) { _ = try await other.lease(waitingAtMost: .zero) }
        await current.release()
    }

    @Test func `after a failover a claim is not released by another owner whose fence it has`() async throws {
        let store = try await server.store(clock: ManualTimeSource()).holding(.fleet(1))
        let lost = try await store.lease(waitingAtMost: .zero)
        try await server.set("claim_owner = 'other-host/4711-other/1', last_writer = NULL", of: store.account)
        await lost.release()
        let owner = "SELECT claim_owner = 'other-host/4711-other/1' FROM latchkey_tokens WHERE account = $1"
        #expect(try await server.run(owner, [.text(store.account)]).flag(0))
        let next = server.store(store.account)
        await expectFailure(.busy) { _ = try await next.lease(waitingAtMost: .zero) }
    }

    @Test func `a claim that was lost in a failover and the next one have two fences`() async throws {
        let store = try await server.store().holding(.fleet(1))
        var fences: Set<Int64> = []
        for _ in 1...4 {
            // As the row was before the claim, and above the numbers of transactions, which grow here.
            try await server.set("claim_fence = 1::bigint << 60, last_writer = NULL", of: store.account)
            let lease = try #require(try await store.lease(waitingAtMost: .zero) as? PostgreSQLTokenStoreLease)
            fences.insert(lease.fence)
            await lease.release()
        }
        #expect(fences.count == 4)
    }

    @Test func `an account whose tokens this store has deleted itself is free at once`() async throws {
        let store = try await server.store().holding(.fleet(1))
        try await store.delete()
        await (try await store.lease(waitingAtMost: .zero)).release()
    }

    @Test func `a row that others have written is free when a claim would have lapsed`() async throws {
        let store = server.store(limits: .patient.with { $0.claim = .milliseconds(300) })
        for change in [Change.claimVanished, .claimLostItsDates] {
            try await store.save(.fleet(1))
            let lost = try await server.store(store.account, clock: ManualTimeSource()).lease(waitingAtMost: .zero)
            try await server.edit(change.rawValue, store.account)
            await expectFailure(.busy) { _ = try await store.lease(waitingAtMost: .zero) }
            let next = try await store.lease(waitingAtMost: .seconds(3_600))
            #expect(next.mayStillCall(.fleet(under: lost)))
            await next.release()
            await lost.release()
        }
    }

    @Test func `an intent is recorded only under the claim that it names; a mark and a failure always`() async throws {
        // Its clock stands still: the lost claim is not renewed.
        let store = try await server.store(clock: ManualTimeSource()).holding(.fleet(1))
        let lease = try await store.lease(waitingAtMost: .zero)
        let intent = RefreshIntent.fleet(under: lease)
        let record = { try await store.update { _ in .active(.fleet(1).with(refreshIntent: intent)) } }
        try await record()
        try await server.edit(Change.claimVanished.rawValue, store.account)
        await expectFailure(.unavailable, "the claim to the lease is no longer in the account's row", of: record)
        var failed = intent
        failed.failure = .init(date: Date(timeIntervalSinceReferenceDate: 8e8), pause: .seconds(9))
        for known in [intent.abandoned, failed] {
            try await store.update { _ in .active(.fleet(1).with(refreshIntent: known)) }
            #expect(try await store.load()?.refreshIntent == known)
        }
        await lease.release()
        // The vanished claim counts for the life of one.
        let waiting = server.store(store.account, limits: .patient.with { $0.claim = .milliseconds(500) })
        let next = try await waiting.lease(waitingAtMost: .seconds(3_600))
        await expectFailure(.unavailable, of: record)
        await next.release()
    }

    @Test(arguments: ["", ", last_writer = NULL"])
    func `a claim without dates, whose owner is gone, is free after the life of a claim`(more: String) async throws {
        let store = server.store(
            limits: .patient.with { ($0.claim, $0.heartbeat) = (.milliseconds(500), .milliseconds(100)) })
        try await store.save(.fleet(1))
        try await server.edit(
            """
            UPDATE latchkey_tokens SET claim_owner = 'gone/1/x', claim_heartbeat = NULL, claim_expires = NULL\(more)
            WHERE account = $1
            """, store.account)
        await (try await store.lease(waitingAtMost: .seconds(3_600))).release()
    }
}

extension PostgreSQLServer {
    /// Keeps a copy of a row, as a backup has it.
    fileprivate func copyRow(of account: String) async throws {
        try await run(
            """
            INSERT INTO latchkey_tokens SELECT (jsonb_populate_record(
                kept, jsonb_build_object('account', $1 || '/copy'))).* FROM latchkey_tokens AS kept WHERE account = $1
            """, [.text(account)])
    }

    /// Changes the row of an account. Statements are separated by semicolons.
    fileprivate func edit(_ statements: String, _ account: String) async throws {
        for statement in statements.split(separator: ";") { try await run(String(statement), [.text(account)]) }
    }
}
#endif
