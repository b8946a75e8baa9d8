extension TimeSource {
    /// Runs work that may never end, until a deadline.
    ///
    /// The work has a task of its own, so that work which ignores its cancellation does not block the caller.
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
        let working = Task { try await work() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiting = Locked<CheckedContinuation<Value?, any Error>?>(continuation)
                @Sendable func end(_ result: Result<Value?, any Error>) {
                    let waiter = waiting.withLock { waiting in
                        defer { waiting = nil }
                        return waiting
                    }
                    waiter?.resume(with: result)
                }
                let timer = Task {
                    try await sleep(until: deadline)
                    working.cancel()
                    end(.success(nil))
                }
                Task {
                    let result = await working.result
                    timer.cancel()
                    end(result.map(Optional.some))
                }
            }
        } onCancel: {
            working.cancel()
        }
    }
}
