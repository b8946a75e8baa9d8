public import struct Foundation.UUID

/// One event of a call. Events contain no secret (G17).
public struct NetworkEvent: Sendable, Hashable {
    /// What happened.
    public let kind: Kind

    /// The identifier of the call, which all its attempts share. It is random and not sent.
    public let id: UUID

    /// The number of the attempt, from 1. 0: before the first.
    public let attempt: Int

    /// The request of the attempt.
    public let request: RequestSummary

    /// When it happened, on the uptime of the client's clock. Only differences are meaningful.
    public let uptime: Duration

    /// The caller's tags.
    public let tags: [String: String]

    /// What the phases of the attempt have taken so far. `nil`: there was no attempt.
    public let timings: NetworkTimings?

    /// Creates an event.
    public init(
        kind: Kind,
        id: UUID,
        attempt: Int,
        request: RequestSummary,
        uptime: Duration,
        tags: [String: String] = [:],
        timings: NetworkTimings? = nil
    ) {
        self.kind = kind
        self.id = id
        self.attempt = attempt
        self.request = request
        self.uptime = uptime
        self.tags = tags
        self.timings = timings
    }
}

extension NetworkEvent {
    /// What happened, with what belongs to it. The set is open: switch over ``name``, with a default.
    public struct Kind: Sendable, Hashable {
        /// The name of a kind.
        public struct Name: Sendable, Hashable, RawRepresentable {
            /// The name as text.
            public let rawValue: String

            /// Creates a name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The call started.
            public static let started = Name(rawValue: "started")

            /// The interceptors have adapted a request, and the transport sends it.
            public static let sent = Name(rawValue: "sent")

            /// The head of a response has arrived.
            public static let responded = Name(rawValue: "responded")

            /// The response is a redirect, which is followed.
            public static let redirected = Name(rawValue: "redirected")

            /// The attempt failed, and another one follows after a pause.
            public static let retrying = Name(rawValue: "retrying")

            /// The call succeeded. Its value has been read; of a stream, the head has arrived.
            public static let succeeded = Name(rawValue: "succeeded")

            /// The call failed.
            public static let failed = Name(rawValue: "failed")

            /// The call was cancelled.
            public static let cancelled = Name(rawValue: "cancelled")
        }

        /// The name.
        public let name: Name

        /// The status of the response, where there was one.
        public internal(set) var status: Int?

        /// The request that follows a redirect.
        public internal(set) var target: RequestSummary?

        /// The pause before the next attempt.
        public internal(set) var pause: Duration?

        /// Why the attempt or the call failed.
        public internal(set) var code: NetworkError.Code?

        /// The bytes of the body that was read.
        public internal(set) var bytes: Int?
    }
}

extension NetworkEvent.Kind {
    /// The call started.
    public static let started = Self(name: .started)

    /// The transport sends a request.
    public static let sent = Self(name: .sent)

    /// The call was cancelled.
    public static let cancelled = Self(name: .cancelled)

    /// The head of a response has arrived.
    public static func responded(status: Int) -> Self { Self(name: .responded, status: status) }

    /// The response is a redirect, which is followed.
    public static func redirected(status: Int, to target: RequestSummary) -> Self {
        Self(name: .redirected, status: status, target: target)
    }

    /// The attempt failed, and another one follows.
    public static func retrying(after pause: Duration, because code: NetworkError.Code, status: Int?) -> Self {
        Self(name: .retrying, status: status, pause: pause, code: code)
    }

    /// The call succeeded.
    public static func succeeded(status: Int, bytes: Int) -> Self {
        Self(name: .succeeded, status: status, bytes: bytes)
    }

    /// The call failed.
    public static func failed(_ code: NetworkError.Code, status: Int?) -> Self {
        Self(name: .failed, status: status, code: code)
    }
}

/// Receives the events of calls, for logs, measurements and diagrams.
public protocol NetworkObserver: Sendable {
    /// Receives one event.
    ///
    /// The events of one call arrive in order, on any thread. The call continues when this returns.
    func receive(_ event: NetworkEvent)
}
