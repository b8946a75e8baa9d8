#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The clocks of the system, with a count of the sleeps.
final class CountingClock: TimeSource {
    private let system = SystemTimeSource()
    private let count = Locked(0)

    var uptime: Duration { system.uptime }
    var date: Date { system.date }
    var pauses: Int { count.withLock { $0 } }

    func sleep(until deadline: Duration) async throws {
        count.withLock { $0 += 1 }
        try await system.sleep(until: deadline)
    }
}
#endif
