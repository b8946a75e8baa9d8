#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// Runs work that is not ours and may hang.
///
/// - Parameters:
///   - limit: How long to wait for it. Afterwards it is cancelled, and its result dropped.
///   - clock: Counts the limit.
///   - what: What was waited for, for the error.
///   - work: The work.
/// - Returns: What `work` returns.
/// - Throws: ``TokenStoreError`` with code `unavailable` after `limit`; what `work` throws. A caller that is cancelled
///   cancels the work, and waits for it.
func limited<Value: Sendable>(
    to limit: Duration,
    on clock: any TimeSource,
    waitingFor what: String,
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let working = Task { try await work() }
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let waiting = Locked<CheckedContinuation<Value, any Error>?>(continuation)
            @Sendable func end(_ result: Result<Value, any Error>) {
                waiting.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }?.resume(with: result)
            }
            let deadline = clock.uptime + limit
            let timer = Task {
                try await clock.sleep(until: deadline)
                working.cancel()
                let reason = "waited for \(what), which took longer than \(limit.inWords)"
                end(.failure(TokenStoreError(.unavailable, reason: reason)))
            }
            Task {
                let result = await working.result
                timer.cancel()
                end(result)
            }
        }
    } onCancel: {
        working.cancel()
    }
}
#endif
