import AuthInterface

/// When the store has held the tokens in use: tokens that replace them later were received later, also where the clock
/// of the process that received them says otherwise (G19).
struct StoreSighting: Hashable, Sendable {
    /// How late a change may be reported.
    private static let reportDelay: Duration = .seconds(5)
    /// Clocks that agree may differ by this.
    private static let tolerance: Duration = .seconds(5)

    /// The store held them then, and no refresh was under way.
    private let unchangedAt: Duration
    /// The first report of a change since then.
    private var changedAt: Duration?

    init(unchangedAt uptime: Duration) {
        unchangedAt = uptime
    }

    mutating func changeReported(at uptime: Duration) {
        changedAt = changedAt ?? uptime
    }

    /// The time that tokens are still valid which were stored since; `nil` where the clocks may be right: the tokens
    /// were received after the sighting.
    func timeLeft(of bundle: TokenBundle, shown: Duration, at uptime: Duration) -> Duration? {
        guard let lifetime = bundle.lifetime, lifetime - shown > uptime - unchangedAt + Self.tolerance else {
            return nil
        }
        let reported = changedAt.map { $0 - Self.reportDelay } ?? unchangedAt
        return lifetime - (uptime - max(unchangedAt, reported))
    }
}
