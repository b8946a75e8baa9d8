public import Foundation

/// The clocks of the system.
public struct SystemTimeSource: TimeSource {
    private static let origin = ContinuousClock.now

    /// Creates a view of the system's clocks. All views share one origin.
    public init() {}

    /// The time since the process first read it.
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
