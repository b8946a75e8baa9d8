#if PostgreSQL
import AuthInterface

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
        var releases: AsyncStream<Void>?
        var refusals = 0
        while true {
            let lapse: Duration
            switch try await attempt() {
            case .taken(let claim): return claim
            case .refused(let time): lapse = time
            }
            refusals += 1
            let now = clock.uptime
            guard now < deadline else { throw Self.isHeld(lapse) }
            guard let stream = releases else {
                // One more attempt follows at once: a release between the first and this one is not reported to us.
                releases = database.changes.releases(of: statements.account)
                continue
            }
            let isListening = database.changes.isListening
            let polling = database.limits.leasePolling
            let pause = isListening ? polling.limit * 2 : polling.delay(afterFailures: refusals - 1)
            try await wait(for: stream, atMost: min(pause, lapse + polling.floor, deadline - now))
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
