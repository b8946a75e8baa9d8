public import Foundation

/// The clocks that a rule may look at, so that a test can set them.
public protocol TimeSource: Sendable {
    /// The time since an arbitrary instant, on a clock that nobody can set and that counts while the device sleeps.
    var uptime: Duration { get }

    /// The time of day, on a clock that anybody can set.
    var date: Date { get }

    /// Waits until an instant of ``uptime``.
    ///
    /// - Parameter deadline: The instant. One that has passed returns at once.
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(until deadline: Duration) async throws
}

/// The clocks of the system.
public struct SystemTimeSource: TimeSource {
    private static let origin = ContinuousClock.now

    /// Creates a view of the system's clocks. All views share one origin.
    public init() {}

    /// The time since this process first looked.
    public var uptime: Duration { ContinuousClock.now - Self.origin }

    /// The time of day.
    public var date: Date { Date() }

    /// Waits until an instant of ``uptime``.
    ///
    /// - Parameter deadline: The instant. One that has passed returns at once.
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: Duration) async throws {
        try await Task.sleep(until: Self.origin + deadline, clock: .continuous)
    }
}
