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
    private let running = Locked<(any RunningCall)?>(nil)

    init(label: String, clock: any TimeSource) {
        queue = DispatchQueue(label: label)
        self.clock = clock
    }

    /// Runs a call to its end, even when the task that waits for it is cancelled (G7).
    ///
    /// - Parameters:
    ///   - limit: How long the caller waits at most.
    ///   - work: The call. It may still run when its caller continues.
    /// - Returns: What `work` returns.
    /// - Throws: What `work` throws; ``TokenStoreError`` with code `unavailable` when the limit has passed.
    func run<Value: Sendable>(
        within limit: Duration,
        _ work: @escaping @Sendable () throws(TokenStoreError) -> Value
    ) async throws(TokenStoreError) -> Value {
        if running.withLock({ $0?.isOverdue ?? false }) {
            throw Self.late("has not ended an earlier call")
        }
        let deadline = clock.uptime + limit
        let result: Result<Value, TokenStoreError> = await withCheckedContinuation { continuation in
            let call = TimedCall(continuation)
            let timer = Task.detached { [clock] in
                try await clock.sleep(until: deadline)
                call.timeOut(Self.late("did not respond within \(limit.inWords)"))
            }
            queue.async { [running] in
                guard !call.isOverdue else { return }
                running.withLock { $0 = call }
                call.end(Result(catching: work))
                running.withLock { $0 = nil }
                timer.cancel()
            }
        }
        return try result.get()
    }

    private static func late(_ what: String) -> TokenStoreError {
        TokenStoreError(.unavailable, reason: "the Secret Service \(what); try again later")
    }
}

/// A call that may outlast the time limit of its caller.
private protocol RunningCall: Sendable {
    /// Whether the limit has passed.
    var isOverdue: Bool { get }
}

/// A call, and the caller that waits for its end or its limit.
private final class TimedCall<Value: Sendable>: RunningCall {
    typealias Continuation = CheckedContinuation<Result<Value, TokenStoreError>, Never>

    private enum State {
        case waiting(Continuation)
        case ended
        case overdue
    }

    private let state: Locked<State>

    init(_ caller: Continuation) {
        state = Locked(.waiting(caller))
    }

    var isOverdue: Bool {
        state.withLock { state in
            if case .overdue = state { true } else { false }
        }
    }

    func end(_ result: Result<Value, TokenStoreError>) {
        resume(with: result, .ended)
    }

    func timeOut(_ error: TokenStoreError) {
        resume(with: .failure(error), .overdue)
    }

    private func resume(with result: Result<Value, TokenStoreError>, _ next: State) {
        let caller: Continuation? = state.withLock { state in
            guard case .waiting(let caller) = state else { return nil }
            state = next
            return caller
        }
        caller?.resume(returning: result)
    }
}
