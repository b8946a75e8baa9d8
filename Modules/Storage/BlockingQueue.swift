import Dispatch

/// A serial queue for calls that block: on the disk, on another process, or on a password dialog.
///
/// The cooperative pool of Swift has one thread for each core. A call that blocks one of them delays all other tasks.
package struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    /// Runs a call to its end, even when the task is cancelled: a save that has started is completed (G7).
    package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }
}
