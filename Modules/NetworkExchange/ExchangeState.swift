package import Foundation
package import NetworkCore

/// What an exchange waits for, what has arrived, and how it ended: events in, actions out. It has no lock, no clock and
/// no driver.
///
/// ```
/// new ─ queue ▸ queued ─ begin ▸ awaitingHead ─ receive(head) ▸ headArrived ─ takeHead ▸ receiving ─ end ▸ ended
///                  └────────────────┴───────────────────────────────┴──────────── end ────────────────────┘
/// ```
///
/// Each waiter is handed out once: by the event it waits for, or by the end.
///
/// - Complexity: Every event is O(1), amortised; the end is linear in those that wait for it.
package struct ExchangeState<HeadWaiter: Sendable, PieceWaiter: Sendable, EndWaiter: Sendable>: Sendable {
    private enum Phase {
        case new
        /// It waits for a connection.
        case queued
        case awaitingHead
        /// The head is delivered when all that has arrived with it is there.
        case headArrived
        case receiving
        case ended
    }

    private var phase = Phase.new
    /// From the queue until the head is delivered.
    private var headWaiter: HeadWaiter?
    /// While the head is not delivered.
    private var arrivedHead: HTTPResponseHead?
    /// While the body is received.
    private var reader: PieceWaiter?
    /// How the exchange has ended.
    private var result: Result<HTTPTransportCompletion, any Error>?
    private var unread = Queue<Data>()
    private var unreadBytes = 0
    /// Whether the server waits until the reader has read.
    private var isHeld = false
    private var endWaiters: [Int: EndWaiter] = [:]
    private let startedAt: Duration
    private var lastActivity: Duration
    private var hasConnection = false
    private var metrics = HTTPTransportMetrics()
    private var hasReportedSent = false

    /// Since when a byte of the request may have been sent.
    private var sentAt: Duration?
    /// Whether the head of the response has arrived.
    package private(set) var hasHead = false

    /// Creates the state of an exchange that waits for nothing.
    package init(startedAt: Duration) {
        self.startedAt = startedAt
        lastActivity = startedAt
    }

    /// Whether a byte of the request may have been sent.
    package var isSent: Bool { sentAt != nil }

    /// Whether the exchange has ended. What has arrived by then may still be read.
    package var isEnded: Bool { phase == .ended }

    /// The bytes of the response's body that have arrived.
    package var bytesReceived: Int64 { metrics.bytesReceived }
}

// Connection and request.
extension ExchangeState {
    /// A caller waits for the head. Returns whether the exchange goes on; if not, the waiter was not taken.
    package mutating func queue(_ waiter: HeadWaiter) -> Bool {
        guard phase == .new else { return false }
        (phase, headWaiter) = (.queued, waiter)
        return true
    }

    /// There is a connection. Until then the idle timeout does not count. Returns whether the exchange goes on.
    package mutating func begin(at now: Duration) -> Bool {
        guard phase == .queued else { return false }
        phase = .awaitingHead
        (hasConnection, lastActivity, metrics.queued) = (true, now, now - startedAt)
        return true
    }

    /// Something was sent or received.
    package mutating func touch(at now: Duration) { lastActivity = now }

    /// The request is on its way.
    package mutating func send(at now: Duration) { (sentAt, lastActivity) = (sentAt ?? now, now) }

    /// Bytes of the request's body were sent. A repeated or smaller number is no news. Returns whether it is news.
    package mutating func sent(_ total: Int64, at now: Duration) -> Bool {
        lastActivity = now
        guard !isEnded, total > metrics.bytesSent || (total == 0 && !hasReportedSent) else { return false }
        (hasReportedSent, metrics.bytesSent) = (true, total)
        return true
    }

    /// More bytes of the request's body were sent. Returns how many so far; `nil` where the exchange has ended.
    package mutating func sent(more count: Int, at now: Duration) -> Int64? {
        lastActivity = now
        guard !isEnded else { return nil }
        metrics.bytesSent += Int64(count)
        return metrics.bytesSent
    }
}

// Response.
extension ExchangeState {
    /// The head has arrived. Returns whether it is the response's: the first one, of an exchange that has not ended.
    package mutating func receive(
        _ head: HTTPResponseHead, protocolName: String? = nil, isConnectionReused: Bool? = nil, at now: Duration
    ) -> Bool {
        lastActivity = now
        guard phase == .awaitingHead else { return false }
        (phase, arrivedHead) = (.headArrived, head)
        hasHead = true
        metrics.toHead = now - startedAt
        (metrics.protocolName, metrics.isConnectionReused) = (protocolName, isConnectionReused)
        return true
    }

    /// Takes the head that is to be delivered.
    package mutating func takeHead() -> (waiter: HeadWaiter, head: HTTPResponseHead)? {
        guard phase == .headArrived, let waiter = headWaiter.take(), let head = arrivedHead.take() else { return nil }
        phase = .receiving
        return (waiter, head)
    }

    /// A piece of the body has arrived. A reader that waits gets it by ``deliver(holdingAt:at:)``. From a limit of
    /// bytes that wait to be read on, the server has to wait. Returns whether the server has to wait, and whether the
    /// piece is the first one for a reader that waits. `nil`: the exchange has ended.
    package mutating func keep(_ piece: Data, holdingAt limit: Int, at now: Duration) -> (isHeld: Bool, isDue: Bool)? {
        guard !isEnded else { return nil }
        lastActivity = now
        metrics.bytesReceived += Int64(piece.count)
        let isDue = reader != nil && unread.isEmpty
        unread.append(piece)
        unreadBytes += piece.count
        if unreadBytes >= limit { isHeld = true }
        return (unreadBytes >= limit, isDue)
    }

    /// Takes the reader that waits, and the piece for it. `demands`: the server need not wait any more.
    package mutating func deliver(
        holdingAt limit: Int, at now: @autoclosure () -> Duration
    ) -> (waiter: PieceWaiter, piece: Data, demands: Bool)? {
        guard reader != nil, let piece = unread.popFirst(), let waiter = reader.take() else { return nil }
        return (waiter, piece, letGo(piece, holdingAt: limit, at: now()))
    }

    /// A piece has left. Says whether the server need not wait any more: only then the time is asked for.
    private mutating func letGo(_ piece: Data, holdingAt limit: Int, at now: @autoclosure () -> Duration) -> Bool {
        unreadBytes -= piece.count
        guard isHeld, unreadBytes < limit else { return false }
        isHeld = false
        lastActivity = now()
        return true
    }

    /// What a reader gets.
    package enum Reading {
        /// The next piece will be delivered to it, or the end.
        case waits
        /// A piece, or `nil` at the end. `demands`: the server need not wait any more.
        case reads(Result<Data?, any Error>, demands: Bool)
    }

    /// The reader asks for the next piece, or the end. One reader may wait at a time.
    package mutating func read(
        _ waiter: PieceWaiter, holdingAt limit: Int, at now: @autoclosure () -> Duration
    ) -> Reading {
        if let piece = unread.popFirst() {
            return .reads(.success(piece), demands: letGo(piece, holdingAt: limit, at: now()))
        }
        if let result { return .reads(result.map { _ in nil }, demands: false) }
        guard phase == .receiving, reader == nil else {
            return .reads(.failure(HTTPBodyError.alreadyRead), demands: false)
        }
        reader = waiter
        return .waits
    }
}

// End.
extension ExchangeState {
    /// The waiters that an end resumes, and with what.
    package struct Ending {
        package let metrics: HTTPTransportMetrics
        package let result: Result<HTTPTransportCompletion, any Error>
        /// Whether the exchange had a connection, and did not wait for one.
        package let hasConnection: Bool
        package let head: (waiter: HeadWaiter, result: Result<HTTPResponseHead, any Error>)?
        package let reader: PieceWaiter?
        package let waiters: [EndWaiter]
    }

    /// The exchange ends, with the trailers or why it breaks off. Only the first end counts: it returns the waiters to
    /// resume. What has arrived can be kept for a reader, and a head still be delivered.
    package mutating func end(
        _ result: Result<HTTPHeaders, any Error>, keepsUnread: Bool, at now: Duration
    ) -> Ending? {
        guard !isEnded else { return nil }
        metrics.total = now - startedAt
        let completion = result.map { HTTPTransportCompletion(trailers: $0, metrics: metrics) }
        (phase, self.result) = (.ended, completion)
        if !keepsUnread { unread = Queue() }
        isHeld = false
        defer { endWaiters = [:] }
        return Ending(
            metrics: metrics, result: completion, hasConnection: hasConnection,
            head: takeHead(keepsUnread: keepsUnread, at: result), reader: reader.take(),
            waiters: endWaiters.isEmpty ? [] : Array(endWaiters.values))
    }

    /// What the one that waits for the head gets at an end.
    private mutating func takeHead(
        keepsUnread: Bool, at end: Result<HTTPHeaders, any Error>
    ) -> (waiter: HeadWaiter, result: Result<HTTPResponseHead, any Error>)? {
        let arrived = arrivedHead.take()
        guard let waiter = headWaiter.take() else { return nil }
        if let arrived, keepsUnread { return (waiter, .success(arrived)) }
        guard case .failure(let error) = end else {
            let reason = "the exchange ended without a response"
            return (waiter, .failure(HTTPTransportError(.transportFailed, reason: reason)))
        }
        return (waiter, .failure(error))
    }

    /// A caller waits for the end. Returns how the exchange has ended. `nil`: the caller waits.
    package mutating func wait(_ waiter: EndWaiter, id: Int) -> Result<HTTPTransportCompletion, any Error>? {
        if let result { return result }
        endWaiters[id] = waiter
        return nil
    }

    /// Takes a caller that no longer waits for the end.
    package mutating func withdraw(_ id: Int) -> EndWaiter? { endWaiters.removeValue(forKey: id) }
}

/// A time limit of an exchange.
package struct ExchangeLimit: Sendable, Hashable {
    /// When it is reached, on the uptime.
    package let at: Duration
    /// What the exchange waits for.
    let wait: NetworkError.Wait
    /// How long it may wait.
    let length: Duration
    /// Whether it is the time in which nothing is sent and nothing is received.
    let isIdle: Bool

    /// The error of an exchange that has reached it.
    package var error: HTTPTransportError {
        isIdle ? .idle(for: length, waitingFor: wait) : .waited(for: wait, atMost: length)
    }
}

// Time limits.
extension ExchangeState {
    /// The first limit to be reached. `nil`: nothing has a limit now. No idle time counts before there is a connection,
    /// and while the server waits for the reader.
    package func limit(of request: HTTPTransportRequest) -> ExchangeLimit? {
        let wait = hasHead ? NetworkError.Wait.responseBody : .responseHead
        let idleAt = hasConnection && !isHeld ? lastActivity + request.idleTimeout : nil
        if let longest = request.longestTime(hasHead: hasHead), idleAt.map({ startedAt + longest < $0 }) ?? true {
            let deadline = startedAt + longest
            // A connection that comes after the deadline was waited for until then.
            let isSent = sentAt.map { $0 < deadline } ?? false
            return ExchangeLimit(
                at: deadline, wait: isSent || hasHead ? wait : .connection, length: longest, isIdle: false)
        }
        return idleAt.map {
            let reached = sentAt == nil && !hasHead ? NetworkError.Wait.connection : wait
            return ExchangeLimit(at: $0, wait: reached, length: request.idleTimeout, isIdle: true)
        }
    }
}
