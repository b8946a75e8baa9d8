import ConcurrencyPrimitives
import Foundation

/// Runs all tasks of this process on one thread, one job after the other, in an order that a seed decides: a race that
/// was found once is found again.
///
/// It takes the jobs that the runtime would give to its threads, so it belongs into an exit test, whose process runs
/// nothing else. It takes neither the jobs of the main actor, nor those of tasks with an executor of their own, nor the
/// waits for a real clock.
enum SeededTaskOrder {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// The runtime calls what is here in place of its own executor.
    nonisolated(unsafe) private static let hook = {
        guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
            preconditionFailure("the runtime has no hook for the executor of tasks")
        }
        return symbol.assumingMemoryBound(to: EnqueueHook?.self)
    }()

    private static let jobs = Locked<[UnownedJob]>([])

    /// An executor for jobs that need none.
    private final class JobExecutor: SerialExecutor {
        func enqueue(_ job: UnownedJob) { jobs.withLock { $0.append(job) } }
    }

    /// Runs an operation and every task that it starts.
    ///
    /// - Parameters:
    ///   - seed: Decides the order.
    ///   - limit: The largest number of jobs. What waits in a loop for something that never happens ends there.
    ///   - operation: The operation.
    /// - Returns: What the operation returns. `nil`: it has not ended.
    static func run<Value: Sendable>(
        seed: UInt64,
        atMost limit: Int,
        _ operation: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let value = Locked<Value?>(nil)
                takeJobs()
                Task.detached {
                    let result = await operation()
                    value.withLock { $0 = result }
                }
                work(seed, atMost: limit)
                hook.pointee = nil
                continuation.resume(returning: value.withLock(\.self))
            }
        }
    }

    private static func takeJobs() {
        hook.pointee = { job, _ in SeededTaskOrder.jobs.withLock { $0.append(job) } }
    }

    private static func work(_ seed: UInt64, atMost limit: Int) {
        var draws = RandomDraws(seed)
        let executor = JobExecutor()
        for _ in 0..<limit {
            let job = jobs.withLock { $0.isEmpty ? nil : $0.remove(at: draws.pick($0.count)) }
            guard let job else { return }
            job.runSynchronously(on: executor.asUnownedSerialExecutor())
        }
    }
}
