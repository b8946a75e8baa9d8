#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// The claim of one process to the lease of one account. It is renewed until it is released.
///
/// A claim that is not renewed in time lapses, and another process may take it. The owner of a lapsed claim may still
/// be waiting for the response to its refresh: only a claim that was released is known to have ended
/// (``mayStillCall(_:)``). If no other process has taken the claim when the connection is restored, it is renewed;
/// otherwise the next renewal finds that it is lost.
final class Claim: Sendable {
    private enum State {
        /// The claim was made or renewed after this uptime, and lasts from then on.
        case held(since: Duration)
        case lost
        case released

        var isHeld: Bool { if case .held = self { true } else { false } }
    }

    let fence: Int64

    /// The claims that were released last; `nil` if the account had no row: no tokens, hence no call.
    private let releasedFences: Set<Int64>?
    private let statements: ClaimStatements
    private let database: PostgreSQLDatabase
    private let state: Locked<State>

    init(
        fence: Int64, since uptime: Duration, releasedFences: Set<Int64>?, statements: ClaimStatements,
        database: PostgreSQLDatabase
    ) {
        self.fence = fence
        state = Locked(.held(since: uptime))
        self.releasedFences = releasedFences
        self.statements = statements
        self.database = database
    }

    /// Whether another process may have taken the claim: it had at the last renewal, or the claim has lapsed since.
    var isLost: Bool {
        switch state.withLock({ $0 }) {
        case .held(let uptime): database.clock.uptime - uptime >= database.limits.claim
        case .lost: true
        case .released: false
        }
    }

    /// Rule 4: only a fence that was released before this claim, or this one, shows that the owner's call has ended. An
    /// intent without one does not say under which claim it was recorded.
    func mayStillCall(_ intent: RefreshIntent) -> Bool {
        guard let fence = intent.lease.flatMap({ Int64($0) }) else { return true }
        guard fence != self.fence, let releasedFences else { return false }
        return !releasedFences.contains(fence)
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
            guard !Task.isCancelled, state.withLock({ $0.isHeld }) else { return }
            do {
                let renewed = try await renew()
                state.withLock { if $0.isHeld { $0 = renewed.map(State.held(since:)) ?? .lost } }
                guard renewed != nil else { return }
                failures = 0
            } catch {
                failures += 1
            }
        }
    }

    /// Releases the claim. Once more changes nothing: it is this one's owner and fence that are looked for.
    ///
    /// If the database cannot be reached, it is tried again in the background until the claim lapses.
    func release() async {
        state.withLock { $0 = .released }
        if (try? await releaseOnce()) == nil { Task { await retryRelease() } }
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

    /// It need not be durable: no claim lapses soon after a start of the server. Returns an uptime before the renewal;
    /// `nil` when another process has taken the claim.
    private func renew() async throws -> Duration? {
        let (renewal, clock) = (statements.renew(fence), database.clock)
        return try await database.write(isDurable: false) { open throws(PostgreSQLFailure) in
            let uptime = clock.uptime
            return try open.execute(renewal).isEmpty ? nil : uptime
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

    /// The process that a claim names; `nil` for a text of another form.
    init?(claimText: String) {
        let parts = claimText.split(separator: "/")
        guard parts.count == 3 else { return nil }
        self.init(host: String(parts[0]), process: String(parts[1]))
    }
}
#endif
