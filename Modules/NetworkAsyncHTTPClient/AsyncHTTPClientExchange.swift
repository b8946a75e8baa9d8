#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Foundation
import NIOCore
import NetworkCore

/// One exchange under way: whether it is its turn, what has arrived, and what waits for it.
final class AsyncHTTPClientExchange: Sendable {
    struct State {
        /// Where the exchange has entered, or waits to enter.
        var gate: ConnectionGate?
        /// When its turn came. Until then nothing can be sent, so the idle timeout does not count.
        var turnAt: Duration?
        var task: HTTPClient.Task<Void>?
        /// How often the request was handed to AsyncHTTPClient.
        var attempts = 0
        /// Whether a byte of the request may have been sent.
        var isSent = false
        var upload: Upload?
        /// The sender of the body, while AsyncHTTPClient holds it back.
        var writer: CheckedContinuation<Bool, Never>?
        /// The number of the request's trailers.
        var trailerNumber: Int?
        var lastActivity: Duration
        /// The entry for its next limit among the transport's deadlines.
        var deadline: UInt64?
        var metrics = HTTPTransportMetrics()

        var headWaiter: CheckedContinuation<NetworkCore.HTTPResponseHead, any Error>?
        var hasHead = false
        /// The head, until it is delivered.
        var head: NetworkCore.HTTPResponseHead?
        var entry: ResponseLog.Entry?
        var pieces = CircularBuffer<Data>()
        var unreadBytes = 0
        /// Fulfilled when the server may send more.
        var demand: EventLoopPromise<Void>?
        var pieceWaiter: CheckedContinuation<Data?, any Error>?
        var endWaiters: [Int: CheckedContinuation<HTTPTransportCompletion, any Error>] = [:]
        var endWaiterCount = 0
        /// How the exchange ended: `.some(nil)` well. What has arrived by then is still read.
        var end: (any Error)??
        var trailers: NetworkCore.HTTPHeaders = [:]
    }

    /// The sender of a body: its task, and what tells AsyncHTTPClient that the body has ended.
    struct Upload {
        let task: Task<Void, Never>
        let end: EventLoopPromise<Void>
    }

    /// How often a request is handed to AsyncHTTPClient, at most.
    private static let mostAttempts = 8

    let request: HTTPTransportRequest
    /// Kept, so that its connections are not closed before the exchange has ended.
    let client: PooledHTTPClient
    private let eventLoops: FreeEventLoops
    let clock: any TimeSource
    let unreadLimit: Int
    let startedAt: Duration
    let state: Locked<State>
    let deadlines: DeadlineQueue

    init(
        _ request: HTTPTransportRequest,
        over client: PooledHTTPClient,
        on eventLoops: FreeEventLoops,
        deadlines: DeadlineQueue,
        clock: any TimeSource,
        unreadLimit: Int
    ) {
        self.request = request
        self.client = client
        self.eventLoops = eventLoops
        self.deadlines = deadlines
        self.clock = clock
        self.unreadLimit = unreadLimit
        startedAt = clock.uptime
        state = Locked(State(lastActivity: startedAt))
    }

    /// Waits for a turn, sends the request, and waits for the head of the response.
    func start(through gate: ConnectionGate) async throws -> NetworkCore.HTTPResponseHead {
        let prepared = try httpRequest()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.end == nil else { return true }
                    (state.gate, state.headWaiter) = (gate, continuation)
                    return false
                }
                guard !isOver else { return continuation.resume(throwing: CancellationError()) }
                let isQueued = !gate.enter(self) { self.takeTurn(prepared, at: gate) }
                if isQueued {
                    startWatch()
                    // The turn may have come meanwhile, with a limit that is earlier.
                    if state.withLock({ $0.turnAt != nil }) { startWatch() }
                    request.onEvent?(HTTPTransportEvent(.queued))
                }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    private func takeTurn(_ prepared: HTTPClient.Request, at gate: ConnectionGate) {
        let now = clock.uptime
        let isOver = state.withLock { state in
            guard state.end == nil else { return true }
            (state.turnAt, state.lastActivity) = (now, now)
            state.metrics.queued = now - startedAt
            return false
        }
        guard !isOver else { return gate.leave() }
        startWatch()
        let eventLoop = eventLoops.take() ?? client.client.eventLoopGroup.any()
        eventLoop.execute { self.execute(prepared, on: eventLoop) }
    }

    /// Hands the request to AsyncHTTPClient, and again where the connection that its pool has chosen was closed before
    /// a byte was sent: the pool is notified later than the connection itself. Nothing is sent twice.
    ///
    /// It is called on the event loop on which AsyncHTTPClient then calls this delegate. Where that is the connection's
    /// too, no thread has to wake another one.
    private func execute(_ prepared: HTTPClient.Request, on eventLoop: any EventLoop) {
        let attempt = state.withLock { state -> Int? in
            guard state.end == nil else { return nil }
            state.attempts += 1
            return state.attempts
        }
        guard let attempt else { return }
        let task = client.client.execute(request: prepared, delegate: self, eventLoop: .delegate(on: eventLoop))
        task.futureResult.whenFailure { error in
            let isUnsent = self.state.withLock { state in
                !state.isSent && state.end == nil && state.attempts == attempt && attempt < Self.mostAttempts
            }
            if isUnsent, self.client.mayHaveClosedConnection, HTTPTransportError.isClosedConnection(error) {
                return self.execute(prepared, on: eventLoop)
            }
            let (isSent, hasHead, entry, received) = self.state.withLock { state in
                (state.isSent, state.hasHead, state.entry, state.metrics.bytesReceived)
            }
            // The whole response was there before the request was sent, and the connection has closed since. AsyncHTTPClient
            // may have dropped a part of the body.
            if HTTPTransportError.isClosedConnection(error), entry?.isWhole(after: received) == true {
                return self.finish(nil, keepsPieces: true)
            }
            let progress = HTTPTransportError.Progress(isSent: isSent, hasHead: hasHead, proxy: self.client.proxy)
            self.finish(HTTPTransportError(reportedBy: error, after: progress), keepsPieces: true)
        }
        let isEnded = state.withLock { state in
            if state.attempts == attempt { state.task = task }
            return state.end != nil
        }
        if isEnded { task.cancel() }
    }

    /// Waits for the next piece of the body.
    ///
    /// - Throws: `HTTPTransportError` when the body broke off; `CancellationError`.
    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let now = clock.uptime
                var demand: EventLoopPromise<Void>?
                let outcome: Result<Data?, any Error>? = state.withLock { state in
                    if let piece = state.pieces.popFirst() {
                        state.unreadBytes -= piece.count
                        if state.unreadBytes < unreadLimit, let waiting = state.demand {
                            (demand, state.demand, state.lastActivity) = (waiting, nil, now)
                        }
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
                if let demand {
                    startWatch()
                    demand.succeed()
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
                    case .some(nil): return .success(state.completion)
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
        finish(error, keepsPieces: false)
    }

    /// Ends the exchange, unless it has ended.
    func finish(_ error: (any Error)?, keepsPieces: Bool) {
        guard state.withLock({ $0.end == nil }) else { return }
        let now = clock.uptime
        let trailers = error == nil ? self.trailers() : [:]
        let before: State? = state.withLock { state in
            guard state.end == nil else { return nil }
            state.metrics.total = now - startedAt
            state.trailers = trailers
            let before = state
            state.end = .some(error)
            (state.headWaiter, state.pieceWaiter, state.task, state.gate, state.demand) = (nil, nil, nil, nil, nil)
            (state.upload, state.endWaiters, state.deadline, state.head, state.writer) = (nil, [:], nil, nil, nil)
            if !keepsPieces { state.pieces.removeAll() }
            return before
        }
        guard let before else { return }
        if before.turnAt == nil { before.gate?.withdraw(self) } else { before.gate?.leave() }
        if let deadline = before.deadline { deadlines.remove(deadline) }
        if let entry = before.entry { eventLoops.add(entry.channel.eventLoop) }
        before.upload?.task.cancel()
        before.writer?.resume(returning: false)
        if let number = before.trailerNumber { client.log?.requestTrailers.remove(number) }
        request.onEvent?(HTTPTransportEvent(.metrics, metrics: before.metrics))
        let noResponse = HTTPTransportError(.transportFailed, reason: "the exchange ended without a response")
        if keepsPieces, let head = before.head {
            before.headWaiter?.resume(returning: head)
        } else {
            before.headWaiter?.resume(throwing: error ?? noResponse)
        }
        before.pieceWaiter?.resume(with: error.map { .failure($0) } ?? .success(nil))
        for waiter in before.endWaiters.values {
            waiter.resume(with: error.map { .failure($0) } ?? .success(before.completion))
        }
        // Before the task: AsyncHTTPClient then fulfils what it holds the sender back with.
        before.upload?.end.fail(error ?? CancellationError())
        if let task = before.task, error != nil || before.upload != nil { task.cancel() }
        before.demand?.fail(error ?? CancellationError())
        // Its request has not ended, and never will.
        if before.upload != nil, error == nil { before.entry?.channel.close(promise: nil) }
    }

    private func trailers() -> NetworkCore.HTTPHeaders {
        let fields = state.withLock { $0.entry }?.end.withLock { $0.trailers }
        return fields.map { NetworkCore.HTTPHeaders($0.map { ($0.name, $0.value) }) } ?? [:]
    }
}

extension AsyncHTTPClientExchange.State {
    var completion: HTTPTransportCompletion { HTTPTransportCompletion(trailers: trailers, metrics: metrics) }
}

/// The one reader of an exchange's body. When it is released, the exchange ends: nothing would read on.
final class AsyncHTTPClientBodyReader: Sendable {
    private let exchange: AsyncHTTPClientExchange

    init(_ exchange: AsyncHTTPClientExchange) {
        self.exchange = exchange
    }

    deinit {
        exchange.fail(CancellationError())
    }

    @Sendable func next() async throws -> Data? {
        try await exchange.next()
    }
}
#endif
