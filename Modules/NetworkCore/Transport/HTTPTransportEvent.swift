/// One thing that happened during an exchange.
///
/// A transport reports what it can see: URLSession on Linux does not see when a connection is made.
public struct HTTPTransportEvent: Sendable, Hashable {
    /// What can happen. The set is open.
    public struct Kind: Sendable, Hashable, RawRepresentable {
        /// The kind as text.
        public let rawValue: String

        /// Creates a kind.
        ///
        /// - Parameter rawValue: The kind as text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

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
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - progress: The bytes so far.
    ///   - metrics: What the exchange took.
    public init(_ kind: Kind, progress: TransferProgress? = nil, metrics: HTTPTransportMetrics? = nil) {
        self.kind = kind
        self.progress = progress
        self.metrics = metrics
    }
}
