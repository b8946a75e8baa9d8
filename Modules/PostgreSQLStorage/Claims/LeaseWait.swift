#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The wait for a lease that another process has. It holds no connection.
///
/// A waiter tries again when it is notified of a release, after a pause if notifications are not possible, and when the
/// claim of the other process should have lapsed.
struct LeaseWait: Sendable {
    let database: PostgreSQLDatabase
    let statements: ClaimStatements
    let report: @Sendable (LeaseHolder) -> Void

    private enum Attempt {
        case taken(Claim)

        /// Another owner has the claim, which lapses after this time if it is not renewed.
        case refused(lapsesAfter: Duration, LeaseHolder?)
    }

    /// Tries to take the claim until it is taken; `busy` at the deadline. A deadline that has passed tries once.
    func claim(until deadline: Duration) async throws -> Claim {
        let clock = database.clock
        var known: LeaseHolder?
        var refusals = 0
        while true {
            defer { refusals += 1 }
            // A release after this line is notified; the attempt finds an earlier one. The first attempt needs neither.
            let releases = refusals > 0 ? database.changes.releases(of: statements.account) : nil
            var lapse = database.limits.claim
            do {
                switch try await attempt() {
                case .taken(let claim): return claim
                case .refused(let time, let holder):
                    if let holder, holder != known { report(holder) }
                    (lapse, known) = (time, holder)
                }
            } catch is TokenStoreError where refusals > 0 && clock.uptime < deadline {
                // An outage does not end the wait. The attempt at the deadline reports it.
            }
            let now = clock.uptime
            guard now < deadline else { throw Self.isHeld(lapse, known) }
            guard let releases else { continue }
            let polling = database.limits.leasePolling
            let pause = database.changes.isListening ? polling.limit * 2 : polling.delay(afterFailures: refusals)
            let end = now + min(pause, lapse + polling.floor, deadline - now)
            // The wait of a cancelled task ends here, and its next attempt gets no connection, and so no claim.
            _ = try await clock.withDeadline(end) { for await _ in releases { return } }
        }
    }

    private func attempt() async throws -> Attempt {
        let (take, clock) = (statements.take, database.clock)
        let (rows, uptime) = try await database.write { open throws(PostgreSQLFailure) in
            let uptime = clock.uptime
            return (try open.execute(take), uptime)
        }
        guard let fence = rows.integer(0) else {
            // No row: another process is inserting it now.
            return .refused(lapsesAfter: .milliseconds(rows.integer(2).map { max($0, 0) } ?? 0), Self.holder(rows))
        }
        let released = rows.text(1).map { text in Set(text.split(separator: ",").compactMap { Int64($0) }) }
        return .taken(
            Claim(fence: fence, since: uptime, releasedFences: released, statements: statements, database: database))
    }

    private static func holder(_ rows: PostgreSQLRows) -> LeaseHolder? {
        guard let owner = rows.text(3), let process = ProcessIdentity(claimText: owner) else { return nil }
        return LeaseHolder(process: process, since: rows.integer(4).map { Date(timeIntervalSince1970: Double($0)) })
    }

    private static func isHeld(_ lapse: Duration, _ holder: LeaseHolder?) -> TokenStoreError {
        let holder = holder.map { " (\($0))" } ?? ""
        return TokenStoreError(
            .busy,
            reason: "waited for another process's lease of the account\(holder), which lapses in \(lapse.inWords) if "
                + "not renewed")
    }
}
#endif
