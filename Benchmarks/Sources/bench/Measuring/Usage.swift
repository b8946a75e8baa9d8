import CountingMalloc
import Foundation

/// What this process has used.
enum Usage {
    /// The processor time of all threads, in microseconds.
    static var processorTime: Double { time(CLOCK_PROCESS_CPUTIME_ID) }

    /// The time since an instant of the past, in microseconds.
    static var wallTime: Double { time(CLOCK_MONOTONIC) }

    /// The load of the machine, which says how far times can be trusted.
    static var load: String {
        let line = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? "?"
        return String(line.prefix { $0 != " " })
    }

    /// What a piece of work allocates.
    static func allocations(_ work: () async throws -> Void) async throws -> AllocationCounts {
        startCountingAllocations()
        do {
            try await work()
        } catch {
            _ = stopCountingAllocations()
            throw error
        }
        return stopCountingAllocations()
    }

    private static func time(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
