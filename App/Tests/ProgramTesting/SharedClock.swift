import ConcurrencyPrimitives
package import Foundation

/// The system's clocks, plus a time that a test adds, in all processes that open the same file. So a process is stopped
/// for an hour in a test that does not wait for one.
package final class SharedClock: TimeSource {
    private let system = SystemTimeSource()
    private let descriptor: Int32

    /// Opens the clock, and creates the file where there is none.
    ///
    /// - Parameter file: Holds the added time.
    /// - Throws: `POSIXError`.
    package init(at file: URL) throws {
        descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// The added time, in whole seconds. An empty file adds nothing.
    private var added: Int64 {
        var seconds: Int64 = 0
        return pread(descriptor, &seconds, 8, 0) == 8 ? seconds : 0
    }

    package var uptime: Duration { system.uptime + .seconds(added) }

    package var date: Date { system.date + TimeInterval(added) }

    /// Waits until an instant of ``uptime``. A process that continues after time was added finds its timers overdue.
    package func sleep(until deadline: Duration) async throws {
        while case let left = deadline - uptime, left > .zero {
            try await system.sleep(until: system.uptime + min(left, .milliseconds(20)))
        }
    }

    package func advance(bySeconds seconds: Int64) {
        var sum = added + seconds
        precondition(pwrite(descriptor, &sum, 8, 0) == 8, "the file of the clock must be writable")
    }
}

/// Waits until a condition is true that no gate reports, such as the state of another process.
///
/// - Throws: `CancellationError`, or what the condition throws.
package func poll(until condition: () throws -> Bool) async throws {
    let clock = SystemTimeSource()
    while try !condition() { try await clock.sleep(until: clock.uptime + .milliseconds(5)) }
}
