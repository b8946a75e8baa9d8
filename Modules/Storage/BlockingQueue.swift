import Dispatch

/// A thread for calls that block: on the disk, on another process, on a user who must type a password.
///
/// The cooperative pool has as many threads as there are cores, for the whole program; a call that waits on one of them
/// stops everything else.
package struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs calls one after the other, each to its end: what a cancelled task has begun to save is saved (G7).
    ///
    /// - Parameter work: The calls.
    /// - Returns: What `work` returns.
    /// - Throws: What `work` throws.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }
}
