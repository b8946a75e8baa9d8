import AuthInterface
import ConcurrencyPrimitives
package import Foundation
package import NetworkCore

/// One exchange under way, for every transport: its place in a lane, its time limits, its one reader and those that
/// wait for its end. An ``ExchangeDriver`` performs it.
///
/// ```swift
/// let exchange = Exchange(request, deadlines: deadlines, unreadLimit: limit)
/// return try await exchange.response(from: Driver(exchange), through: lane)
/// ```
///
/// It ends when the response is whole, by an error, at a time limit, when the task of its caller is cancelled, and when
/// its body is released: nothing would read on.
package final class Exchange: Sendable {
    // The state hands each out once, so they need no check.
    private typealias HeadWaiter = UnsafeContinuation<HTTPResponseHead, any Error>
    private typealias PieceWaiter = UnsafeContinuation<Data?, any Error>
    private typealias EndWaiter = Race<Result<HTTPTransportCompletion, any Error>>

    private struct State {
        var exchange: ExchangeState<HeadWaiter, PieceWaiter, EndWaiter>
        /// `nil` before the start, and after the end.
        var driver: (any ExchangeDriver)?
        var lane: ExchangeLane?
        /// Its place among the deadlines, and when it is called there.
        var watch: (id: UInt64, at: Duration)?
        /// The numbers of the last watch, and of the last one that was called.
        var watches: (last: Int, called: Int) = (0, 0)
        var lastWaiter = 0

        /// The first limit to be reached, unless a watch comes before it, and the number of the watch for it.
        mutating func nextWatch(of request: HTTPTransportRequest) -> (limit: ExchangeLimit, number: Int)? {
            guard let limit = exchange.limit(of: request), watch.map({ $0.at > limit.at }) ?? true else { return nil }
            watches.last += 1
            return (limit, watches.last)
        }
    }

    package let request: HTTPTransportRequest
    private let bodyLength: Int64?
    private let deadlines: DeadlineQueue
    private let unreadLimit: Int
    private let state: Locked<State>

    private var now: Duration { deadlines.clock.uptime }

    /// Creates an exchange that has not started.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - bodyLength: The bytes of the request's body, where they are known.
    ///   - deadlines: Where its time limits are kept.
    ///   - startedAt: When they begin to count. `nil`: now.
    ///   - unreadLimit: How many bytes of the response may wait to be read.
    package init(
        _ request: HTTPTransportRequest, bodyLength: Int64? = nil, deadlines: DeadlineQueue,
        startedAt: Duration? = nil, unreadLimit: Int
    ) {
        self.request = request
        if let bodyLength { self.bodyLength = bodyLength } else { self.bodyLength = request.body.length }
        self.deadlines = deadlines
        self.unreadLimit = unreadLimit
        state = Locked(State(exchange: ExchangeState(startedAt: startedAt ?? deadlines.clock.uptime)))
    }

    /// Waits for a place in a lane, lets the driver send the request, and waits for the head of the response.
    ///
    /// - Throws: ``HTTPTransportError``; `CancellationError`.
    package func response(
        from driver: any ExchangeDriver, through lane: ExchangeLane
    ) async throws -> HTTPTransportResponse {
        request.startPermit?.adopt()
        state.withLock { ($0.driver, $0.lane) = (driver, lane) }
        let head = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                guard state.withLock({ $0.exchange.queue(continuation) }) else {
                    return continuation.resume(throwing: CancellationError())
                }
                guard !lane.acquire(for: self, granted: { self.begin(in: lane) }) else { return }
                // Not later than it will be once there is a connection, so that most exchanges need one watch.
                watch(noLaterThan: now + request.idleTimeout)
                request.onEvent?(HTTPTransportEvent(.queued))
            }
        } onCancel: {
            cancel(CancellationError())
        }
        let reader = ExchangeReader(self)
        return HTTPTransportResponse(
            head: head, body: HTTPBody(pull: reader.next), completion: { try await self.completion() })
    }

    private func begin(in lane: ExchangeLane) {
        let now = now
        guard let driver = state.withLock({ $0.exchange.begin(at: now) ? $0.driver : nil }) else {
            return lane.release()
        }
        watch()
        driver.start()
    }

    // MARK: Readers

    /// Waits for the next piece of the body.
    ///
    /// - Throws: ``HTTPTransportError`` when the body broke off; ``HTTPBodyError`` with code `alreadyRead` when another
    ///   call waits; `CancellationError`.
    fileprivate func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let (reading, driver) = state.withLock { state in
                    (state.exchange.read(continuation, holdingAt: unreadLimit, at: now), state.driver)
                }
                guard case .reads(let piece, let demands) = reading else { return }
                if demands { demand(of: driver) }
                continuation.resume(with: piece)
            }
        } onCancel: {
            cancel(CancellationError())
        }
    }

    private func demand(of driver: (any ExchangeDriver)?) {
        watch()
        driver?.demand()
    }

    private func completion() async throws -> HTTPTransportCompletion {
        try Task.checkCancellation()
        let waiter = EndWaiter()
        let (id, result) = state.withLock { state in
            state.lastWaiter += 1
            return (state.lastWaiter, state.exchange.wait(waiter, id: state.lastWaiter))
        }
        if let result { return try result.get() }
        return try await withTaskCancellationHandler {
            await waiter.value()
        } onCancel: {
            state.withLock { $0.exchange.withdraw(id) }?.end(.failure(CancellationError()))
        }.get()
    }

    // MARK: Time limits

    /// Watches the first limit to be reached. An earlier watch stays: when it is called, it watches the next limit.
    private func watch(noLaterThan latest: Duration? = nil) {
        while let (limit, number) = state.withLock({ $0.nextWatch(of: request) }) {
            let at = min(limit.at, latest ?? limit.at)
            // It is kept until it ends: then the limit is removed. A weak reference would slow every other one down.
            let added = deadlines.add(at: at) { self.checkLimit(number) }
            let (replaced, isFirst) = state.withLock { state -> (UInt64?, Bool) in
                guard !state.exchange.isEnded else { return (added, true) }
                // It was called before this line: what is watched now has come after it.
                guard state.watches.called < number else { return (nil, true) }
                defer { state.watch = (added, at) }
                // Meanwhile a connection may have brought an earlier one.
                return (state.watch?.id, state.exchange.limit(of: request).map { $0.at >= at } ?? true)
            }
            if let replaced { deadlines.remove(replaced) }
            if isFirst { return }
        }
    }

    private func checkLimit(_ number: Int) {
        let limit = state.withLock { state in
            (state.watches.called, state.watch) = (max(state.watches.called, number), nil)
            return state.exchange.limit(of: request)
        }
        guard let limit else { return }
        if now < limit.at { watch() } else { cancel(limit.error) }
    }
}

// What a driver reports.
extension Exchange {
    /// Something was sent or received.
    package func touch() { state.withLock { $0.exchange.touch(at: now) } }

    /// Asks whether the request may be sent, directly before the library sends it (G28). If not, the exchange ends. The
    /// closure says whether the library has not sent a byte yet, as far as it shows.
    package func start(isUnsent: (@Sendable () -> Bool)? = nil) -> Bool {
        guard let permit = request.startPermit, !permit.start(isUnsent: isUnsent) else { return true }
        cancel(HTTPTransportError.notStarted)
        return false
    }

    /// A byte of the request may have been sent.
    package func markSending() { state.withLock { $0.exchange.send(at: now) } }

    /// Bytes of the request's body were sent: so many so far.
    package func reportSent(_ total: Int64) {
        guard state.withLock({ $0.exchange.sent(total, at: now) }) else { return }
        report(.sent, total, of: bodyLength)
    }

    /// So many more bytes of the request's body were sent.
    package func reportSent(more count: Int) {
        guard let total = state.withLock({ $0.exchange.sent(more: count, at: now) }) else { return }
        report(.sent, total, of: bodyLength)
    }

    /// The head has arrived. It is delivered by ``deliverHead()``. Returns whether it is the response's.
    @discardableResult
    package func receive(
        _ head: HTTPResponseHead, protocolName: String? = nil, isConnectionReused: Bool? = nil
    ) -> Bool {
        let isFirst = state.withLock { state in
            state.exchange.receive(head, protocolName: protocolName, isConnectionReused: isConnectionReused, at: now)
        }
        if isFirst { report(.received, 0) }
        return isFirst
    }

    /// Delivers a head that has arrived.
    package func deliverHead() {
        guard let (waiter, head) = state.withLock({ $0.exchange.takeHead() }) else { return }
        waiter.resume(returning: head)
    }

    /// A piece of the body has arrived.
    ///
    /// - Parameters:
    ///   - piece: The piece.
    ///   - later: Where others may follow at once: calls a closure when they are there, which resumes a reader that
    ///     waits. Each time that it is resumed wakes a thread. `nil`: it is resumed for each piece.
    /// - Returns: Whether the server must wait, until ``ExchangeDriver/demand()``.
    package func receive(_ piece: Data, later: ((@escaping @Sendable () -> Void) -> Void)? = nil) -> Bool {
        guard !piece.isEmpty else { return false }
        let now = now
        let (kept, delivery, total) = state.withLock { state in
            let kept = state.exchange.keep(piece, holdingAt: unreadLimit, at: now)
            let delivery = later == nil ? state.exchange.deliver(holdingAt: unreadLimit, at: now) : nil
            return (kept, delivery, state.exchange.bytesReceived)
        }
        guard let kept else { return false }
        report(.received, total)
        if let delivery {
            delivery.waiter.resume(returning: delivery.piece)
            return false
        }
        if kept.isDue { later? { self.deliverPiece() } }
        return kept.isHeld
    }

    private func deliverPiece() {
        let (delivery, driver) = state.withLock { ($0.exchange.deliver(holdingAt: unreadLimit, at: now), $0.driver) }
        guard let delivery else { return }
        if delivery.demands { demand(of: driver) }
        delivery.waiter.resume(returning: delivery.piece)
    }

    private func report(_ kind: HTTPTransportEvent.Kind, _ completed: Int64, of total: Int64? = nil) {
        request.onEvent?(HTTPTransportEvent(kind, progress: TransferProgress(completed: completed, total: total)))
    }

    /// How far the exchange is.
    package struct Progress: Sendable {
        /// Whether a byte of the request may have been sent.
        package let isSent: Bool
        /// Whether the head of the response has arrived.
        package let hasHead: Bool
        /// How many bytes of the body have arrived.
        package let bytesReceived: Int64
    }

    /// How far the exchange is now.
    package var progress: Progress {
        state.withLock {
            Progress(isSent: $0.exchange.isSent, hasHead: $0.exchange.hasHead, bytesReceived: $0.exchange.bytesReceived)
        }
    }

    /// The response has arrived in full, or the driver cannot go on. What has arrived is still read.
    package func end(_ result: Result<HTTPHeaders, any Error> = .success([:])) {
        deliverPiece()
        finish(result, keepsUnread: true)
    }

    /// Ends the exchange from this side. What has arrived and was not read is dropped.
    package func cancel(_ error: any Error) { finish(.failure(error), keepsUnread: false) }

    private func finish(_ result: Result<HTTPHeaders, any Error>, keepsUnread: Bool) {
        guard let driver = state.withLock({ $0.driver }) else { return }
        let now = now
        let error: (any Error)? = if case .failure(let error) = result { error } else { nil }
        let cause = driver.cause(of: error)
        let (ending, lane, watch) = state.withLock { state in
            let (lane, watch) = (state.lane, state.watch)
            let ending = state.exchange.end(cause.map { .failure($0) } ?? result, keepsUnread: keepsUnread, at: now)
            if ending != nil { (state.driver, state.lane, state.watch) = (nil, nil, nil) }
            return (ending, lane, watch)
        }
        guard let ending else { return }
        if let watch { deadlines.remove(watch.id) }
        // Before the next exchange starts: it uses what this one has released.
        driver.end(cause)
        if ending.hasConnection { lane?.release() } else { lane?.cancel(self) }
        request.onEvent?(HTTPTransportEvent(.metrics, metrics: ending.metrics))
        if let (waiter, head) = ending.head { waiter.resume(with: head) }
        if let reader = ending.reader { reader.resume(with: ending.result.map { _ in nil }) }
        for waiter in ending.waiters { waiter.end(ending.result) }
    }
}

/// The one reader of an exchange's body. When it is released, the exchange ends: nothing would read on.
private final class ExchangeReader: Sendable {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit { exchange.cancel(CancellationError()) }

    @Sendable func next() async throws -> Data? { try await exchange.next() }
}
