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
        var watch: Task<Void, Never>?
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
    private let unreadLimit: Int
    private let startedAt: Duration
    let state: Locked<State>

    init(
        _ request: HTTPTransportRequest,
        upload: URLSessionUpload = .none,
        clock: any TimeSource,
        startedAt: Duration? = nil,
        unreadLimit: Int = URLSessionTransport.defaultUnreadLimit
    ) {
        self.request = request
        self.upload = upload
        self.clock = clock
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
                if request.timeToHead != nil { startWatch() }
                let isQueued = !gate.enter(self) { self.takeTurn(makeTask, at: gate) }
                if isQueued { request.onEvent?(HTTPTransportEvent(.queued)) }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    private func takeTurn(_ makeTask: () throws -> URLSessionTask, at gate: ConnectionGate) {
        let now = clock.uptime
        let isOver = state.withLock { state in
            guard state.end == nil else { return true }
            (state.turnAt, state.lastActivity) = (now, now)
            state.metrics.queued = now - startedAt
            return false
        }
        guard !isOver else { return gate.leave() }
        do {
            let task = try makeTask()
            let isOver = state.withLock { state in
                guard state.end == nil else { return true }
                state.task = task
                return false
            }
            // The task still has to end, so that its session can.
            guard !isOver else { return task.cancel() }
            startWatch()
            task.resume()
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
        finish(error, keepsPieces: false)?.cancel()
    }

    /// - Returns: The task, if this is what ended the exchange.
    @discardableResult
    func finish(_ error: (any Error)?, keepsPieces: Bool) -> URLSessionTask? {
        let now = clock.uptime
        let error = error.map { upload.explanation(of: $0) }
        let before: State? = state.withLock { state in
            guard state.end == nil else { return nil }
            state.metrics.total = now - startedAt
            let before = state
            state.end = .some(error)
            (state.headWaiter, state.pieceWaiter, state.watch, state.task, state.gate) = (nil, nil, nil, nil, nil)
            state.endWaiters = [:]
            if !keepsPieces { state.pieces = Queue() }
            return before
        }
        guard let before else { return nil }
        // Not when URLSession reports the end: of a cancelled task it may never do so, and others wait for their turn.
        if before.turnAt == nil { before.gate?.withdraw(self) } else { before.gate?.leave() }
        upload.discard()
        before.endStream?()
        before.watch?.cancel()
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

// Time limits.
extension URLSessionExchange {
    private func startWatch() {
        let watch = Task { await self.watchTime() }
        let replaced = state.withLock { state -> Task<Void, Never>? in
            guard state.end == nil else { return watch }
            defer { state.watch = watch }
            return state.watch
        }
        replaced?.cancel()
    }

    /// The first limit to be reached, and what it is a limit of.
    private var limit: (at: Duration, reason: String) {
        let (turnAt, lastActivity, hasHead) = state.withLock { ($0.turnAt, $0.lastActivity, $0.hasHead) }
        let idle = (lastActivity + request.idleTimeout, "nothing was sent or received for \(request.idleTimeout)")
        guard !hasHead, let timeToHead = request.timeToHead else { return idle }
        let deadline = startedAt + timeToHead
        let hadTurn = turnAt.map { $0 < deadline } ?? false
        let waitedFor = hadTurn ? "the head of the response did not arrive" : "waited for a connection"
        let total = (deadline, "\(waitedFor) for \(timeToHead)")
        return turnAt == nil || total.0 < idle.0 ? total : idle
    }

    private func watchTime() async {
        while true {
            let limit = limit
            guard clock.uptime < limit.at else { return fail(HTTPTransportError(.timedOut, reason: limit.reason)) }
            do {
                try await clock.sleep(until: limit.at)
            } catch {
                return
            }
        }
    }
}

// What the delegate reports.
extension URLSessionExchange {
    func receive(_ head: HTTPResponseHead) {
        let now = clock.uptime
        let waiter = state.withLock { state in
            state.lastActivity = now
            // An informational response (1xx) is not the response.
            guard head.status >= 200 else { return nil as CheckedContinuation<HTTPResponseHead, any Error>? }
            if !state.hasHead { state.metrics.toHead = now - startedAt }
            state.hasHead = true
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        guard let waiter else { return }
        request.onEvent?(HTTPTransportEvent(.received, progress: TransferProgress(completed: 0, total: nil)))
        waiter.resume(returning: head)
    }

    func receive(_ data: Data) {
        let now = clock.uptime
        var received: Int64 = 0
        var isTooMuch = false
        let waiter = state.withLock { state in
            state.lastActivity = now
            guard state.end == nil else { return nil as CheckedContinuation<Data?, any Error>? }
            state.metrics.bytesReceived += Int64(data.count)
            received = state.metrics.bytesReceived
            guard let waiter = state.pieceWaiter else {
                state.pieces.append(data)
                state.unreadBytes += data.count
                isTooMuch = state.unreadBytes > unreadLimit
                return nil
            }
            state.pieceWaiter = nil
            return waiter
        }
        if received > 0, let onEvent = request.onEvent {
            onEvent(HTTPTransportEvent(.received, progress: TransferProgress(completed: received, total: nil)))
        }
        waiter?.resume(returning: data)
        guard isTooMuch else { return }
        let reason = "the body arrives faster than it is read: more than \(unreadLimit) bytes wait"
        fail(HTTPTransportError(.responseTooLarge, reason: reason))
    }

    func noteSent(_ total: Int64) {
        let now = clock.uptime
        let isNews = state.withLock { state in
            state.lastActivity = now
            guard total > state.metrics.bytesSent || (total == 0 && !state.hasReportedSent) else { return false }
            state.hasReportedSent = true
            state.metrics.bytesSent = total
            return true
        }
        guard isNews, let onEvent = request.onEvent else { return }
        onEvent(HTTPTransportEvent(.sent, progress: TransferProgress(completed: total, total: upload.size)))
    }

    #if !canImport(FoundationNetworking)
    /// Makes the stream of a body that is a sequence; `nil` where it is none, or cannot be read.
    func makeStream() -> InputStream? {
        guard case .stream(let body) = upload else { return nil }
        do {
            let (stream, end) = try BoundBodyStream.make(of: body) { self.fail($0) }
            let (replaced, isOver) = state.withLock { state in
                defer { state.endStream = end }
                return (state.endStream, state.end != nil)
            }
            replaced?()
            if isOver { end() }
            return stream
        } catch {
            fail(error)
            return nil
        }
    }
    #endif

    /// The response has arrived in full, whatever is reported after this.
    func noteWhole() {
        finish(nil, keepsPieces: true)
    }

    func complete(with error: (any Error)?) {
        finish(error.map(HTTPTransportError.init(reportedBy:)), keepsPieces: true)
    }
}

/// The one reader of an exchange's body. When it is released, the exchange ends: nothing would read on.
final class URLSessionBodyReader: Sendable {
    private let exchange: URLSessionExchange

    init(_ exchange: URLSessionExchange) {
        self.exchange = exchange
    }

    deinit {
        exchange.fail(CancellationError())
    }

    @Sendable func next() async throws -> Data? {
        try await exchange.next()
    }
}
