#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// The claim of one process to the lease of one account. It is renewed until it is released.
///
/// A claim that is not renewed in time lapses, and another process may take it. The owner of a lapsed claim may still
/// be waiting for the response to its refresh, so its name stays in the row (``mayStillCall(_:)``). If no other process
/// has taken the claim when the connection is restored, it is renewed; otherwise the next renewal finds that it is
/// lost.
final class Claim: Sendable {
    private enum State {
        case held
        case lost
        case released
    }

    let fence: Int64

    private let lapsedOwners: [String]
    private let statements: ClaimStatements
    private let database: PostgreSQLDatabase
    private let state = Locked(State.held)

    init(fence: Int64, lapsedOwners: [String], statements: ClaimStatements, database: PostgreSQLDatabase) {
        self.fence = fence
        self.lapsedOwners = lapsedOwners
        self.statements = statements
        self.database = database
    }

    /// Whether another process had taken the claim at the last renewal.
    var isLost: Bool { state.withLock { $0 == .lost } }

    /// Whether a claim of the process has lapsed and was not released since.
    func mayStillCall(_ owner: ProcessIdentity) -> Bool {
        lapsedOwners.contains { $0.hasPrefix(owner.claimText) }
    }

    /// Renews the claim until it is released or lost, or the task is cancelled.
    ///
    /// A failed renewal is tried again after a pause, at the next heartbeat at the latest.
    func keepRenewing() async {
        let (limits, clock) = (database.limits, database.clock)
        var failures = 0
        while true {
            let isFailing = failures > 0
            let pause = isFailing ? limits.reconnection.delay(afterFailures: failures) : limits.heartbeat
            try? await clock.sleep(until: clock.uptime + min(pause, limits.heartbeat))
            guard !Task.isCancelled, state.withLock({ $0 == .held }) else { return }
            do {
                guard try await renew() else {
                    state.withLock { if $0 == .held { $0 = .lost } }
                    return
                }
                failures = 0
            } catch {
                failures += 1
            }
        }
    }

    /// Releases the claim.
    ///
    /// If the database cannot be reached, it is tried again in the background until the claim lapses.
    func release() async {
        let isFirst = state.withLock { state in
            defer { state = .released }
            return state != .released
        }
        guard isFirst else { return }
        do {
            try await releaseOnce()
        } catch {
            Task { await retryRelease() }
        }
    }

    private func retryRelease() async {
        let (limits, clock) = (database.limits, database.clock)
        let deadline = clock.uptime + limits.claim
        var failures = 1
        while clock.uptime < deadline {
            try? await clock.sleep(until: clock.uptime + limits.reconnection.delay(afterFailures: failures))
            if (try? await releaseOnce()) != nil { return }
            failures += 1
        }
    }

    /// It need not be durable: no claim lapses soon after a start of the server.
    private func renew() async throws -> Bool {
        let renewal = statements.renew(fence)
        return try await !database.write(isDurable: false) { open throws(PostgreSQLFailure) in
            try open.execute(renewal).isEmpty
        }
    }

    private func releaseOnce() async throws {
        let release = statements.release(fence)
        try await database.write { open throws(PostgreSQLFailure) in
            for statement in release { try open.execute(statement) }
        }
    }
}

extension ProcessIdentity {
    /// The name of the process in a claim, before the name of the request.
    var claimText: String { "\(host)/\(process)/" }
}
#endif
