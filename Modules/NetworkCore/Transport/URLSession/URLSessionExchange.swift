import ConcurrencyPrimitives
import Foundation

/// One exchange under way: whether it is its turn, what has arrived, what waits for it, and when it has been idle for
/// too long.
final class URLSessionExchange: Sendable {
    struct State {
        /// Where the exchange has entered, or waits to enter.
        var gate: ConnectionGate?
        /// When its turn came. Until then nothing can be sent, so the idle timeout does not count.
        var turnAt: Duration?
        var task: URLSessionTask?
        /// The number of the next limit in the queue of deadlines.
        var limit: UInt64?
        /// Ends the stream of the body.
        var endStream: (@Sendable () -> Void)?
        var lastActivity: Duration
        var metrics = HTTPTransportMetrics()
        var hasReportedSent = false

        var headWaiter: CheckedContinuation<HTTPResponseHead, any Error>?
        var hasHead = false
        var pieces = Queue<Data>()
        var unreadBytes = 0
        var pieceWaiter: CheckedContinuation<Data?, any Error>?
        var endWaiters: [Int: CheckedContinuation<HTTPTransportCompletion, any Error>] = [:]
        var endWaiterCount = 0
        /// How the exchange ended: `.some(nil)` well. What has arrived by then is still read.
        var end: (any Error)??
    }

    let request: HTTPTransportRequest
    let upload: URLSessionUpload
    let clock: any TimeSource
    let deadlines: DeadlineQueue
    let unreadLimit: Int
    let startedAt: Duration
    let state: Locked<State>

    init(
        _ request: HTTPTransportRequest,
        upload: URLSessionUpload = .none,
        clock: any TimeSource,
        deadlines: DeadlineQueue? = nil,
        startedAt: Duration? = nil,
        unreadLimit: Int = URLSessionTransport.defaultUnreadLimit
    ) {
        self.request = request
        self.upload = upload
        self.clock = clock
        self.deadlines = deadlines ?? DeadlineQueue(clock: clock)
        self.unreadLimit = unreadLimit
        self.startedAt = startedAt ?? clock.uptime
        state = Locked(State(lastActivity: self.startedAt))
    }

    /// Waits for a turn, starts the task, and waits for the head of the response.
    ///
    /// - Parameters:
    ///   - gate: Where to wait for a turn.
    ///   - makeTask: Makes the task when the turn has come. It may never be called.
    /// - Returns: The head.
    /// - Throws: ``HTTPTransportError``; `CancellationError`.
    func start(
        through gate: ConnectionGate,
        makeTask: @escaping @Sendable () throws -> URLSessionTask
    ) async throws -> HTTPResponseHead {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.end == nil else { return true }
                    (state.gate, state.headWaiter) = (gate, continuation)
                    return false
                }
                guard !isOver else { return continuation.resume(throwing: CancellationError()) }
                if request.longestTime(hasHead: false) != nil { startWatch() }
                let isQueued = !gate.enter(self) { self.takeTurn(makeTask, at: gate) }
                if isQueued { request.onEvent?(HTTPTransportEvent(.queued)) }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    private func takeTurn(_ makeTask: @escaping @Sendable () throws -> URLSessionTask, at gate: ConnectionGate) {
        let now = clock.uptime
        let isOver = state.withLock { state in
            guard state.end == nil else { return true }
            (state.turnAt, state.lastActivity) = (now, now)
            state.metrics.queued = now - startedAt
            return false
        }
        guard !isOver else { return gate.leave() }
        startWatch()
        BlockingCalls.perform { self.startTask(makeTask) }
    }

    private func startTask(_ makeTask: () throws -> URLSessionTask) {
        guard state.withLock({ $0.end == nil }) else { return }
        do {
            let task = try makeTask()
            let isOver = state.withLock { state in
                guard state.end == nil else { return true }
                // Waiting for the thread that makes tasks is no silence of the server.
                (state.task, state.lastActivity) = (task, clock.uptime)
                return false
            }
            // The task still has to end, so that its session can.
            if isOver { task.cancel() } else { task.resume() }
        } catch {
            fail(error)
        }
    }

    /// Waits for the next piece of the body.
    ///
    /// - Throws: ``HTTPBodyError`` with code `alreadyRead` when another call waits.
    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Data?, any Error>? = state.withLock { state in
                    if state.pieceWaiter != nil { return .failure(HTTPBodyError.alreadyRead) }
                    if let piece = state.pieces.popFirst() {
                        state.unreadBytes -= piece.count
                        return .success(piece)
                    }
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

    /// Waits for the end of the exchange.
    func completion() async throws -> HTTPTransportCompletion {
        let id = state.withLock { state in
            state.endWaiterCount += 1
            return state.endWaiterCount
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<HTTPTransportCompletion, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    switch state.end {
                    case .some(let error?): return .failure(error)
                    case .some(nil): return .success(HTTPTransportCompletion(metrics: state.metrics))
                    case nil:
                        state.endWaiters[id] = continuation
                        return nil
                    }
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            state.withLock { $0.endWaiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    /// Ends the exchange from this side, unless it has ended. What has arrived and was not read is dropped.
    func fail(_ error: any Error) {
        guard let task = finish(error, keepsPieces: false) else { return }
        BlockingCalls.perform { task.cancel() }
    }

    /// - Returns: The task, if this is what ended the exchange.
    @discardableResult
    func finish(_ error: (any Error)?, keepsPieces: Bool) -> URLSessionTask? {
        let now = clock.uptime
        let error = upload.end(error)
        let before: State? = state.withLock { state in
            guard state.end == nil else { return nil }
            state.metrics.total = now - startedAt
            let before = state
            state.end = .some(error)
            (state.headWaiter, state.pieceWaiter, state.limit, state.task, state.gate) = (nil, nil, nil, nil, nil)
            state.endWaiters = [:]
            if !keepsPieces { state.pieces = Queue() }
            return before
        }
        guard let before else { return nil }
        // Not when URLSession reports the end: of a cancelled task it may never do so, and others wait for their turn.
        if before.turnAt == nil { before.gate?.withdraw(self) } else { before.gate?.leave() }
        upload.discard()
        before.endStream?()
        if let limit = before.limit { deadlines.remove(limit) }
        request.onEvent?(HTTPTransportEvent(.metrics, metrics: before.metrics))
        let noResponse = HTTPTransportError(.transportFailed, reason: "the exchange ended without a response")
        before.headWaiter?.resume(throwing: error ?? noResponse)
        before.pieceWaiter?.resume(with: error.map { .failure($0) } ?? .success(nil))
        for waiter in before.endWaiters.values {
            waiter.resume(
                with: error.map { .failure($0) } ?? .success(HTTPTransportCompletion(metrics: before.metrics)))
        }
        return before.task
    }
}
