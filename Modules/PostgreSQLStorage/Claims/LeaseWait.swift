#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// The wait for a lease that another process has. It holds no connection.
///
/// A waiter is woken by the report of a release, where reports can be listened for; otherwise it asks again after
/// pauses. It also asks when the claim it waits for should have lapsed.
struct LeaseWait: Sendable {
    let database: PostgreSQLDatabase
    let statements: ClaimStatements

    private enum Attempt {
        case taken(Claim)

        /// Another has the claim, which lapses after this time if it is not renewed.
        case refused(lapsesAfter: Duration)
    }

    /// Asks for the claim until it is taken.
    ///
    /// - Parameter deadline: When to give up. One that has passed asks once.
    /// - Returns: The claim.
    /// - Throws: ``TokenStoreError`` with code `busy` at the deadline, or as a statement; `CancellationError`.
    func claim(until deadline: Duration) async throws -> Claim {
        let clock = database.clock
        switch try await attempt() {
        case .taken(let claim): return claim
        case .refused(let lapse): guard clock.uptime < deadline else { throw Self.isHeld(lapse) }
        }
        var refusals = 1
        while true {
            // A release that comes after this line is reported; one that came before is found by the attempt.
            let releases = database.changes.releases(of: statements.account)
            var lapse = database.limits.claim
            do {
                switch try await attempt() {
                case .taken(let claim): return claim
                case .refused(let time): lapse = time
                }
            } catch is TokenStoreError where clock.uptime < deadline {
                // An outage in the middle of the wait is waited for, too. The attempt at the deadline reports it.
            }
            let now = clock.uptime
            guard now < deadline else { throw Self.isHeld(lapse) }
            let polling = database.limits.leasePolling
            let pause =
                database.changes.isListening ? polling.limit * 2 : polling.delay(afterFailures: refusals)
            refusals += 1
            try await wait(for: releases, atMost: min(pause, lapse + polling.floor, deadline - now))
            // A clock that does not look for cancellation must not make us take what is no longer waited for.
            try Task.checkCancellation()
        }
    }

    private func attempt() async throws -> Attempt {
        let take = statements.take
        let rows = try await database.write { open throws(PostgreSQLFailure) in try open.execute(take) }
        guard let fence = rows.integer(0) else {
            // No row: another process is making it now.
            return .refused(lapsesAfter: .milliseconds(rows.integer(2).map { max($0, 0) } ?? 0))
        }
        let lapsed = (rows.text(1) ?? "").split(separator: "\n").map(String.init)
        return .taken(Claim(fence: fence, lapsedOwners: lapsed, statements: statements, database: database))
    }

    /// Waits for a report or until the pause is over. The stream ends with the wait.
    private func wait(for releases: AsyncStream<Void>, atMost pause: Duration) async throws {
        let clock = database.clock
        let end = clock.uptime + pause
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in releases { return } }
            group.addTask { try await clock.sleep(until: end) }
            try await group.next()
            group.cancelAll()
        }
    }

    private static func isHeld(_ lapse: Duration) -> TokenStoreError {
        TokenStoreError(
            .busy,
            reason: "waited for another process's lease of the account, which lapses in \(lapse.inWords) if not renewed"
        )
    }
}
#endif
