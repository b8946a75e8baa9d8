import AuthInterface
import ConcurrencyPrimitives
import Dispatch

/// A serial queue for blocking calls of a service that may hang. Each caller waits for a limited time.
///
/// The limit counts from the submission. A call that is still queued when its limit has passed fails and is never made.
/// While a call that has passed its limit still runs, every new call fails at once.
final class TimedCallQueue: Sendable {
    private let queue: DispatchQueue
    private let clock: any TimeSource
    /// Whether the call that runs has passed its limit; `nil`: none runs.
    private let isOverdue = Locked<(@Sendable () -> Bool)?>(nil)

    init(label: String, clock: any TimeSource) {
        queue = DispatchQueue(label: label)
        self.clock = clock
    }

    /// Runs a call to its end, even when the task that waits for it is cancelled (G7). It is `unavailable` when the
    /// limit has passed, and may still run then.
    func run<Value: Sendable>(
        within limit: Duration, _ work: @escaping @Sendable () throws(TokenStoreError) -> Value
    ) async throws(TokenStoreError) -> Value {
        if isOverdue.withLock({ $0 })?() == true { throw Self.late("has not ended an earlier call") }
        let deadline = clock.uptime + limit
        let race = Race<Result<Value, TokenStoreError>>()
        let timer = Task.detached { [clock] in
            try await clock.sleep(until: deadline)
            race.end(.failure(Self.late("did not respond within \(limit.inWords)")))
        }
        queue.async { [isOverdue] in
            guard race.outcome == nil else { return }
            isOverdue.withLock { $0 = { race.outcome != nil } }
            let result = Result(catching: work)
            isOverdue.withLock { $0 = nil }
            race.end(result)
            timer.cancel()
        }
        return try await race.value().get()
    }

    private static func late(_ what: String) -> TokenStoreError {
        TokenStoreError(.unavailable, reason: "the Secret Service \(what); try again later")
    }
}
