public import Foundation

/// The clocks that a rule may read, so that a test can set them.
public protocol TimeSource: Sendable {
    /// The time since an arbitrary instant. It never goes back, and counts while the device sleeps.
    var uptime: Duration { get }

    /// The time of day. The user may set it.
    var date: Date { get }

    /// Waits until an instant of ``uptime``.
    ///
    /// - Parameter deadline: The instant. One that has passed returns at once.
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(until deadline: Duration) async throws
}
