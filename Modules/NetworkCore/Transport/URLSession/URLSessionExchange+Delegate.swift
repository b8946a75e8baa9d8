import ConcurrencyPrimitives
import Foundation

// What the delegate reports.
extension URLSessionExchange {
    func receive(_ head: HTTPResponseHead) {
        guard (100...999).contains(head.status) else {
            return fail(HTTPTransportError(.invalidResponse, reason: HTTPTransportError.noStatus))
        }
        if let problem = head.lengthProblem {
            return fail(HTTPTransportError(.invalidResponse, reason: problem))
        }
        let now = clock.uptime
        let waiter = state.withLock { state in
            state.lastActivity = now
            // An informational response (1xx) is not the response.
            guard !(100..<200).contains(head.status) else {
                return nil as CheckedContinuation<HTTPResponseHead, any Error>?
            }
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
        let reason =
            "the body arrives faster than it is read: more than \(unreadLimit) bytes wait; read it faster, or use a "
            + "transport that makes the server wait, as AsyncHTTPClientTransport does"
        // What waits is still read: a download goes on after it.
        guard let task = finish(HTTPTransportError(.readTooSlowly, reason: reason), keepsPieces: true) else { return }
        BlockingCalls.perform { task.cancel() }
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

    /// The response has arrived in full; later reports do not change that.
    func noteWhole() {
        finish(nil, keepsPieces: true)
    }

    func complete(with error: (any Error)?) {
        let hasHead = state.withLock { $0.hasHead }
        finish(error.map { HTTPTransportError(reportedBy: $0, hasHead: hasHead) }, keepsPieces: true)
    }
}

// Time limits.
extension URLSessionExchange {
    /// Watches the first limit to be reached, in place of another one.
    func startWatch() {
        let added = deadlines.add(at: limit.at) { [weak self] in self?.checkLimit() }
        let replaced = state.withLock { state -> UInt64? in
            guard state.end == nil else { return added }
            defer { state.limit = added }
            return state.limit
        }
        if let replaced { deadlines.remove(replaced) }
    }

    private func checkLimit() {
        let limit = limit
        if clock.uptime < limit.at { startWatch() } else { fail(limit.error) }
    }

    /// The first limit to be reached, and the error of it.
    private var limit: (at: Duration, error: HTTPTransportError) {
        let (turnAt, lastActivity, hasHead) = state.withLock { ($0.turnAt, $0.lastActivity, $0.hasHead) }
        let timeout = request.idleTimeout
        let idle = (lastActivity + timeout, HTTPTransportError.idle(for: timeout, hasHead: hasHead))
        guard let longest = request.longestTime(hasHead: hasHead) else { return idle }
        let deadline = startedAt + longest
        guard !hasHead else {
            return deadline < idle.0 ? (deadline, .waited(for: .responseBody, atMost: longest)) : idle
        }
        let wait = turnAt.map { $0 < deadline } ?? false ? NetworkError.Wait.responseHead : .connection
        let total = (deadline, HTTPTransportError.waited(for: wait, atMost: longest))
        return turnAt == nil || total.0 < idle.0 ? total : idle
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
