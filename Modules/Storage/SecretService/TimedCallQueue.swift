import AuthInterface
import ConcurrencyPrimitives
import Dispatch

/// A thread for calls to a service that can hang: each call is answered within a limit, whether it has ended or not.
///
/// The limit counts from the submission. A call that waits behind a slow one is answered when its own limit has passed,
/// and is never made. While a call that was answered in that way is still under way, every new call fails at once:
/// it would only wait for a limit of its own.
final class TimedCallQueue: Sendable {
    private let queue: DispatchQueue
    private let clock: any TimeSource
    private let running = Locked<(any OngoingCall)?>(nil)

    init(label: String, clock: any TimeSource) {
        queue = DispatchQueue(label: label)
        self.clock = clock
    }

    /// Makes calls one after the other, each to its end, even when the task that waits for it is cancelled (G7).
    ///
    /// - Parameters:
    ///   - limit: How long the caller waits at most.
    ///   - work: The call. It may still be under way when its caller is answered.
    /// - Returns: What `work` returns.
    /// - Throws: What `work` throws; ``TokenStoreError`` with code `unavailable` when the limit has passed.
    func run<Value: Sendable>(
        within limit: Duration,
        _ work: @escaping @Sendable () throws(TokenStoreError) -> Value
    ) async throws(TokenStoreError) -> Value {
        if running.withLock({ $0?.isOverdue ?? false }) {
            throw Self.late("has not ended an earlier call yet")
        }
        let deadline = clock.uptime + limit
        let result: Result<Value, TokenStoreError> = await withCheckedContinuation { continuation in
            let call = TimedCall(continuation)
            let timer = Task.detached { [clock] in
                try await clock.sleep(until: deadline)
                call.giveUp(Self.late("did not answer within \(limit.inWords)"))
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

/// A call whose caller may have been answered already.
private protocol OngoingCall: Sendable {
    /// Whether the caller was answered because the limit has passed.
    var isOverdue: Bool { get }
}

/// A call, and the caller that waits for it. The caller is answered once: by the end of the call or by its limit.
private final class TimedCall<Value: Sendable>: OngoingCall {
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
        answer(result, .ended)
    }

    func giveUp(_ error: TokenStoreError) {
        answer(.failure(error), .overdue)
    }

    private func answer(_ result: Result<Value, TokenStoreError>, _ next: State) {
        let caller: Continuation? = state.withLock { state in
            guard case .waiting(let caller) = state else { return nil }
            state = next
            return caller
        }
        caller?.resume(returning: result)
    }
}
