import ConcurrencyPrimitives
import Foundation

/// One exchange: the response so far, its waiters, and its idle timeout.
final class URLSessionExchange: Sendable {
    private struct State {
        var task: URLSessionTask?
        var watch: Task<Void, Never>?
        var lastActivity: Duration
        var sent: Int64 = -1

        var headWaiter: CheckedContinuation<HTTPResponseHead, any Error>?
        var pieces: [Data] = []
        var pieceWaiter: CheckedContinuation<Data?, any Error>?
        /// How the exchange ended: `.some(nil)` is success. Pieces that have arrived can still be read.
        var end: (any Error)??
    }

    private let body: HTTPTransportBody
    private let length: Int64?
    private let timeout: Duration
    private let progress: ProgressHandler?
    private let clock: any TimeSource
    private let onEnd: @Sendable () -> Void
    private let state: Locked<State>

    init(_ request: HTTPTransportRequest, clock: any TimeSource, onEnd: @escaping @Sendable () -> Void) {
        body = request.body
        length = request.body.length
        timeout = request.timeout
        progress = request.progress
        self.clock = clock
        self.onEnd = onEnd
        state = Locked(State(lastActivity: clock.uptime))
    }

    /// Starts the task and waits for the head of the response.
    func start(_ task: URLSessionTask) async throws -> HTTPResponseHead {
        let watch = Task { await self.watchIdleTimeout() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.end == nil else { return true }
                    (state.task, state.watch, state.headWaiter) = (task, watch, continuation)
                    return false
                }
                guard isOver else { return task.resume() }
                // Cancelled before it started. The task must end, so that its session can.
                continuation.resume(throwing: CancellationError())
                watch.cancel()
                task.cancel()
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    /// Waits for the next piece of the body.
    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Data?, any Error>? = state.withLock { state in
                    if !state.pieces.isEmpty { return .success(state.pieces.removeFirst()) }
                    switch state.end {
                    case .some(let error?): return .failure(error)
                    case .some(nil): return .success(nil)
                    case nil:
                        state.pieceWaiter = continuation
                        return nil
                    }
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    /// Ends the exchange with an error, unless it has ended. Unread pieces are discarded.
    func fail(_ error: any Error) {
        let task = finish(error, keepsPieces: false)
        task?.cancel()
    }

    /// - Returns: The task, if this call ended the exchange.
    @discardableResult
    private func finish(_ error: (any Error)?, keepsPieces: Bool) -> URLSessionTask? {
        let before: State? = state.withLock { state in
            guard state.end == nil else { return nil }
            let before = state
            state.end = .some(error)
            (state.headWaiter, state.pieceWaiter, state.watch, state.task) = (nil, nil, nil, nil)
            if !keepsPieces { state.pieces = [] }
            return before
        }
        guard let before else { return nil }
        // Not when URLSession reports the end: it may never do so for a cancelled task, and others wait in the queue.
        onEnd()
        before.watch?.cancel()
        let noResponse = HTTPTransportError(.transportFailed, reason: "the exchange ended without a response")
        before.headWaiter?.resume(throwing: error ?? noResponse)
        before.pieceWaiter?.resume(with: error.map { .failure($0) } ?? .success(nil))
        return before.task
    }

    private func watchIdleTimeout() async {
        while true {
            let deadline = state.withLock { $0.lastActivity } + timeout
            guard clock.uptime < deadline else {
                let reason = "nothing was sent or received for \(timeout.inWords)"
                return fail(HTTPTransportError(.timedOut, reason: reason))
            }
            do {
                try await clock.sleep(until: deadline)
            } catch {
                return
            }
        }
    }
}

// Called by the delegate.
extension URLSessionExchange {
    func receive(_ head: HTTPResponseHead) {
        let waiter = state.withLock { state in
            state.lastActivity = clock.uptime
            // An informational response (1xx) is not the response to the call.
            guard head.status >= 200 else { return nil as CheckedContinuation<HTTPResponseHead, any Error>? }
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: head)
    }

    func receive(_ data: Data) {
        let waiter = state.withLock { state in
            state.lastActivity = clock.uptime
            guard state.end == nil else { return nil as CheckedContinuation<Data?, any Error>? }
            guard let waiter = state.pieceWaiter else {
                state.pieces.append(data)
                return nil
            }
            state.pieceWaiter = nil
            return waiter
        }
        waiter?.resume(returning: data)
    }

    func noteSent(_ total: Int64) {
        let isNews = state.withLock { state in
            state.lastActivity = clock.uptime
            defer { state.sent = max(state.sent, total) }
            return total > state.sent
        }
        if isNews { progress?(TransferProgress(completed: total, total: length)) }
    }

    func makeNewStream() -> InputStream? {
        guard case .stream(_, let make) = body else { return nil }
        do {
            return try make()
        } catch {
            fail(error)
            return nil
        }
    }

    /// The response is complete. Later reports are ignored.
    func noteWhole() {
        finish(nil, keepsPieces: true)
    }

    func complete(with error: (any Error)?) {
        finish(error.map(HTTPTransportError.init(reportedBy:)), keepsPieces: true)
    }
}

/// The reader of an exchange's body. The exchange ends when it is released.
final class URLSessionBodyReader: Sendable {
    private let exchange: URLSessionExchange

    init(_ exchange: URLSessionExchange) {
        self.exchange = exchange
    }

    deinit {
        exchange.fail(CancellationError())
    }

    func next() async throws -> Data? {
        try await exchange.next()
    }
}
