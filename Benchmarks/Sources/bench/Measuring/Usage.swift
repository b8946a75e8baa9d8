import CountingMalloc
import Foundation

/// What this process has used.
enum Usage {
    /// The processor time of all threads, in microseconds.
    static var processorTime: Double { time(CLOCK_PROCESS_CPUTIME_ID) }

    /// The time since an instant of the past, in microseconds.
    static var wallTime: Double { time(CLOCK_MONOTONIC) }

    /// The memory of the process now, in kilobytes.
    static var memory: Int { status("VmRSS") }

    /// The most memory of the process since ``startPeak()``, in kilobytes.
    static var peakMemory: Int { status("VmHWM") }

    /// The peak starts anew (proc(5)).
    static func startPeak() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

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

    private static func status(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
