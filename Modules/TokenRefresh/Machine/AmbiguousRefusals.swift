import AuthInterface
import Foundation

/// The ambiguous refusals in a row (G4). One may come from a gateway, such as that of a hotel; the same again, after a
/// cool-down, comes from the server.
struct AmbiguousRefusals: Hashable, Sendable {
    /// How often a refusal must come that is not by the status which means *expired*.
    static let requiredCount = 3
    /// The shortest cool-down, whatever the policy says.
    static let shortestCooldown: Duration = .seconds(10)

    private let status: Int?
    private let serverCode: String?
    /// Whether the second one counts.
    private let statusMeansExpired: Bool
    private let since: Duration
    private let last: Duration
    private let count: Int

    init(_ error: TokenRefreshError, after refusals: AmbiguousRefusals?, at uptime: Duration) {
        let earlier = refusals.flatMap { $0.isSame(as: error) ? $0 : nil }
        (status, serverCode, statusMeansExpired) = (error.status, error.serverCode, error.statusMeansExpired)
        since = earlier?.since ?? uptime
        last = uptime
        // No more is ever asked for.
        count = min((earlier?.count ?? 0) + 1, Self.requiredCount)
    }

    /// The refusals that another process, or an earlier run of this one, has received. `nil`: the failure was another.
    init?(_ failure: RefreshIntent.Failure, _ clock: MachineClock) {
        guard failure.isAmbiguous else { return nil }
        func uptime(of date: Date) -> Duration { clock.uptime - (clock.timePassed(since: date) ?? .zero) }
        status = failure.status
        serverCode = failure.serverCode
        count = min(max(failure.count ?? 1, 1), Self.requiredCount)
        statusMeansExpired = failure.statusMeansExpired ?? (failure.status == 401)
        last = uptime(of: failure.date)
        since = min(last, uptime(of: failure.firstDate ?? failure.date))
    }

    /// Whether a further refusal is a rejection.
    func isConfirmed(by error: TokenRefreshError, at uptime: Duration, _ period: Duration) -> Bool {
        guard isSame(as: error), uptime >= last + Self.shortestCooldown else { return false }
        return statusMeansExpired || (count + 1 >= Self.requiredCount && uptime >= since + period)
    }

    /// Whether they still count after a failure with no whole response: those of an account that the server does not
    /// name are counted for a long time.
    var outlivesLostResponses: Bool { !statusMeansExpired }

    /// Stores the refusals in the intent that other processes find.
    func fill(_ failure: inout RefreshIntent.Failure, at now: Instant) {
        failure.isAmbiguous = true
        failure.statusMeansExpired = statusMeansExpired
        failure.count = count
        failure.firstDate = now.date - (now.uptime - since) / .seconds(1)
    }

    private func isSame(as error: TokenRefreshError) -> Bool {
        guard error.statusMeansExpired == statusMeansExpired else { return false }
        return statusMeansExpired || (error.status == status && error.serverCode == serverCode)
    }
}
