import ConcurrencyPrimitives
import Foundation
package import Testing

/// Runs each case of a test on a thread of its own.
///
/// A test that computes for seconds keeps one of the threads on which all tasks run. Two of them keep both that a
/// machine with two cores has, and the time limits of other tests, which are those of real connections, pass while
/// nothing can run.
package struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let thread = ThreadExecutor()
        defer { thread.end() }
        try await withTaskExecutorPreference(thread) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    /// Each case of the test has a thread of its own: for tests that compute for long.
    package static var ownThread: OwnThread { OwnThread() }
}

/// Runs the jobs of tasks on one thread, which it starts.
package final class ThreadExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var hasEnded = false
    }

    private let state = Locked(State())
    private let ready = DispatchSemaphore(value: 0)

    package init() {
        let thread = Thread { [self] in
            while true {
                ready.wait()
                let (job, hasEnded) = state.withLock { ($0.jobs.isEmpty ? nil : $0.jobs.removeFirst(), $0.hasEnded) }
                job?.runSynchronously(on: asUnownedTaskExecutor())
                if hasEnded && job == nil { return }
            }
        }
        thread.stackSize = 8 * 1_024 * 1_024
        thread.start()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        ready.signal()
    }

    /// The thread ends once it has run its jobs.
    package func end() {
        state.withLock { $0.hasEnded = true }
        ready.signal()
    }
}
