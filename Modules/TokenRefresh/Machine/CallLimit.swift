/// A limit of a call, whose last part counts in running time (G8).
///
/// The clock goes on while the device sleeps or the process is stopped, and the call does not: its response may lie
/// unread in the socket when the process continues, and the limit has passed. So the last part of a limit is waited for
/// in slices. A slice that ends much too late shows that the process slept. Then the call gets the whole grace once
/// more; after each later sleep it gets at least one slice, so that many short sleeps do not keep it indefinitely.
struct CallLimit: Hashable, Sendable {
    /// The number of slices of the grace.
    static let slices = 5
    /// The number of sleeps after which the limit passes at the next one.
    static let maximumSleeps = 4 * slices
    /// A slice that ends later than this, and later than by its own length, shows a sleep. A busy machine is slow, too.
    private static let tolerance: Duration = .milliseconds(250)

    private let grace: Duration
    private var slice: Duration
    private var left = slices + 1
    private var sleeps = 0
    /// When the slice ends.
    private(set) var due: Duration
    /// Whether the last slice ended so late that the process slept.
    private(set) var hasJustSlept = false

    /// The limit passes at `end` in a process that does not sleep; one that slept runs for the grace period first.
    init(at end: Duration, now: Duration, grace: Duration) {
        let counted = max(min(grace, (end - now) / 2), .zero)
        self.grace = grace
        slice = counted / Self.slices
        due = end - counted
    }

    /// The slice has ended. Returns whether the limit has passed. If not, the next slice ends at ``due``.
    mutating func sliceEnded(at uptime: Duration) -> Bool {
        guard grace > .zero else { return true }
        hasJustSlept = uptime > due + max(slice, Self.tolerance)
        if hasJustSlept {
            sleeps += 1
            left = sleeps == 1 ? Self.slices : left - 1
            slice = grace / Self.slices
            due = uptime + slice
            return sleeps >= Self.maximumSleeps
        }
        left -= 1
        due += slice
        return left <= 0
    }
}
