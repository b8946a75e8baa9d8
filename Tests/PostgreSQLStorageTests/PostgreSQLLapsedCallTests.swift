#if PostgreSQL
import AuthInterface
import AuthTesting
import ContractTesting
import ConcurrencyPrimitives
import Foundation
import Testing
import TokenRefresh

@testable import PostgreSQLStorage

@Suite("Rule 4: a claim that lapses during a call", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PostgreSQLLapsedCallTests {
    @Test(arguments: [ProcessIdentity.current, ProcessIdentity(host: "other-host", process: "4711-other")])
    func `no other engine spends the refresh token until the call has ended`(process: ProcessIdentity) async throws {
        let server = try await PostgreSQLServer.shared
        var limits = PostgreSQLLimits.patient
        limits.claim = .seconds(3_600)
        limits.heartbeat = .seconds(1_800)
        let mine = server.store(limits: limits)
        try await mine.save(.fixture())
        let gate = Gate()
        let handler = ScriptedRefreshHandler(.rotateThenHold(at: gate))
        let engine = TokenRefreshCoordinator(store: mine, handler: handler, clock: ManualTimeSource())
        let refresh = Task { _ = try await engine.refresh() }
        await gate.arrivals(atLeast: 1)
        // The claim lapses: its owner could not renew it.
        try await server.run(
            """
            UPDATE latchkey_tokens SET claim_heartbeat = clock_timestamp() - interval '2 seconds',
                claim_expires = clock_timestamp() - interval '1 second' WHERE account = $1
            """, [.text(mine.account)])

        let theirs = server.store(mine.account).owned(by: process)
        let others = ScriptedRefreshHandler()
        let other = TokenRefreshCoordinator(store: theirs, handler: others, clock: ManualTimeSource())
        let failure = await #expect(throws: AuthenticationError.self) { try await other.refresh() }
        #expect(failure?.code == .refreshUnavailable)
        #expect(others.calls.isEmpty)

        gate.open()
        try await refresh.value
        #expect(try await theirs.load()?.generation == 1)
        let later = TokenRefreshCoordinator(store: theirs, handler: others, clock: ManualTimeSource())
        #expect(try await later.token().generation == 1)
        #expect(others.calls.isEmpty)
    }
}
#endif
