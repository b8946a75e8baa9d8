public import AuthInterface

/// One request, ready to be sent.
public struct HTTPTransportRequest: Sendable {
    /// Method, URL and header fields.
    public var head: HTTPRequestHead

    /// What to send after the head. `Content-Type` is already among the header fields; the transport writes the length.
    public var body: HTTPBody

    /// The longest time in which nothing is sent and nothing is received.
    public var idleTimeout: Duration

    /// The longest time from now to the head of the response, the wait for a connection included. `nil`: no limit.
    public var timeToHead: Duration?

    /// The longest time from now to the end of the response's body. `nil`: no limit, as for a body that is read as it
    /// arrives. A transport with ``HTTPTransport/endsInTime`` obeys it.
    public var timeToEnd: Duration?

    /// What the exchange is for. A transport has connections for each purpose: open streams do not hold up calls, and
    /// calls do not hold up the refresh that they wait for.
    public var purpose: Purpose

    /// The right to send the request, which ends at an instant and can be withdrawn. `nil`: it does not end.
    ///
    /// A transport calls `adopt()` first, and `start()` directly before it writes the head, and again before the first
    /// byte of the body. Where that returns `false` it writes nothing more, and fails with code `notStarted`. One that
    /// ignores the permit may send a refresh token that another process has spent meanwhile (G28).
    public var startPermit: StartPermit?

    /// The call this exchange is part of: its id, the number of the attempt, the session whose token it carries, and
    /// the caller's tags. Unless ``RequestContext/isIdempotent``, the exchange must not happen twice, and the transport
    /// must not use a connection on which it could have to send the request again.
    public var context: RequestContext

    /// Is called with what happens during the exchange, in order, on any thread. The transfer waits for it.
    public var onEvent: (@Sendable (HTTPTransportEvent) -> Void)?

    /// Creates a request. Without a context, it is a call of its own.
    public init(
        head: HTTPRequestHead,
        body: HTTPBody = .none,
        idleTimeout: Duration = .seconds(30),
        timeToHead: Duration? = nil,
        timeToEnd: Duration? = nil,
        purpose: Purpose = .call,
        startPermit: StartPermit? = nil,
        context: RequestContext? = nil,
        onEvent: (@Sendable (HTTPTransportEvent) -> Void)? = nil
    ) {
        self.head = head
        self.body = body
        self.idleTimeout = idleTimeout
        self.timeToHead = timeToHead
        self.timeToEnd = timeToEnd
        self.purpose = purpose
        self.startPermit = startPermit
        if let context { self.context = context } else { self.context = RequestContext(method: head.method) }
        self.onEvent = onEvent
    }
}

extension HTTPTransportRequest {
    /// What an exchange is for.
    public enum Purpose: Sendable, Hashable, CaseIterable {
        /// A request whose response is read at once.
        case call

        /// A response that is read as it arrives, and may never end.
        case stream

        /// A refresh of tokens, which other requests may wait for.
        case refresh
    }
}

extension HTTPTransportRequest: RedactedDescription {
    /// The method and the redacted URL, without the secrets of the call; never a header value or a body (G17).
    public var description: String { RequestSummary(head, Redaction(of: self), of: context.message).description }
}

/// One thing that happened during an exchange.
///
/// A transport reports what it can see: URLSession on Linux does not see when a connection is made.
public struct HTTPTransportEvent: Sendable, Hashable {
    /// What can happen. The set is open.
    public struct Kind: Sendable, Hashable, RawRepresentable {
        /// The kind as text.
        public let rawValue: String

        /// Creates a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request waits for a connection.
        public static let queued = Kind(rawValue: "queued")

        /// The request has a connection, a new or a used one.
        public static let connected = Kind(rawValue: "connected")

        /// A part of the body was sent; `progress` says how much so far.
        public static let sent = Kind(rawValue: "sent")

        /// The head of the response is there, or a part of its body; `progress` says how much of the body so far.
        public static let received = Kind(rawValue: "received")

        /// The exchange ended; `metrics` says what it took.
        public static let metrics = Kind(rawValue: "metrics")
    }

    /// What happened.
    public let kind: Kind

    /// The bytes so far, of a `sent` or `received` event.
    public let progress: TransferProgress?

    /// What the exchange took, of a `metrics` event.
    public let metrics: HTTPTransportMetrics?

    /// Creates an event.
    public init(_ kind: Kind, progress: TransferProgress? = nil, metrics: HTTPTransportMetrics? = nil) {
        self.kind = kind
        self.progress = progress
        self.metrics = metrics
    }
}
