public import Foundation

/// The clocks that a rule may read, so that a test can set them.
public protocol TimeSource: Sendable {
    /// The time since an arbitrary instant. It never goes back, and counts while the device sleeps.
    var uptime: Duration { get }

    /// The time of day. The user may set it.
    var date: Date { get }

    /// How much of ``uptime`` the device has slept. The default is zero: a clock that cannot tell shows no sleep.
    var asleep: Duration { get }

    /// Waits until an instant of ``uptime``.
    ///
    /// - Parameter deadline: The instant. One that has passed returns at once.
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(until deadline: Duration) async throws
}

extension TimeSource {
    /// Shows no sleep.
    public var asleep: Duration { .zero }
}

/// The clocks of the system.
public struct SystemTimeSource: TimeSource {
    /// A year. A longer time is waited for in parts.
    private static let longestSleep: Duration = .seconds(365 * 24 * 60 * 60)

    /// Creates a view of the system's clocks. All views share one origin.
    public init() {}

    /// The time since the start of the system, or since the process first read a clock.
    public var uptime: Duration { Self.uptime }

    /// The time of day.
    public var date: Date { Date() }

    /// How much of ``uptime`` the system has slept. A process that was stopped while the system ran was not asleep.
    public var asleep: Duration {
        let awake = Self.awake
        return uptime - awake
    }

    /// Waits until an instant of ``uptime``. One that has passed returns at once.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: Duration) async throws {
        // The system ends the process where the instant is too far away for its clock.
        while case let left = deadline - uptime, left > Self.longestSleep {
            try await Task.sleep(for: Self.longestSleep)
        }
        // `uptime` is read before the clock that sleeps: so it has reached the deadline when the sleep ends.
        try await Task.sleep(for: deadline - uptime)
    }

    // What `ContinuousClock` and `SuspendingClock` read. On Linux their instants take as long again to make and to
    // compare: a request reads the clock eleven times, and a valid token takes little more time than one look.
    #if os(Linux)
    private static var uptime: Duration { time(of: CLOCK_BOOTTIME) }
    private static var awake: Duration { time(of: CLOCK_MONOTONIC) }

    private static func time(of clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .nanoseconds(Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
    #else
    private static let origins = (uptime: ContinuousClock.now, awake: SuspendingClock.now)
    private static var uptime: Duration { ContinuousClock.now - origins.uptime }
    private static var awake: Duration { SuspendingClock.now - origins.awake }
    #endif
}

extension TimeSource {
    /// Runs work that may never end, until a deadline.
    ///
    /// The work runs in a separate task, so that work which ignores its cancellation does not block the caller.
    ///
    /// - Parameters:
    ///   - deadline: An instant of ``uptime``. The work is then cancelled, and its result dropped.
    ///   - work: The work. It is cancelled with the caller, which then waits for it until the deadline.
    /// - Returns: What `work` returns; `nil` when the deadline came first.
    /// - Throws: What `work` throws.
    package func withDeadline<Value: Sendable>(
        _ deadline: Duration,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let race = Race<Result<Value?, any Error>>()
        let working = Task {
            do {
                race.end(.success(try await work()))
            } catch {
                race.end(.failure(error))
            }
        }
        let timer = Task {
            try await sleep(until: deadline)
            race.end(.success(nil))
            working.cancel()
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            await race.value()
        } onCancel: {
            working.cancel()
        }.get()
    }
}
