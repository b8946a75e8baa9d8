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
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - id: The identifier of the call.
    ///   - attempt: The number of the attempt, from 1.
    ///   - request: The request of the attempt.
    ///   - uptime: When it happened, on the uptime of the client's clock.
    ///   - tags: The caller's tags.
    ///   - timings: What the phases of the attempt have taken so far.
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
            ///
            /// - Parameter rawValue: The name as text.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

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
        public private(set) var status: Int?

        /// The request that follows a redirect.
        public private(set) var target: RequestSummary?

        /// The pause before the next attempt.
        public private(set) var pause: Duration?

        /// Why the attempt or the call failed.
        public private(set) var code: NetworkError.Code?

        /// The bytes of the body that was read.
        public private(set) var bytes: Int?

        /// Creates a kind of which nothing but its name is known.
        ///
        /// - Parameter name: The name.
        public init(_ name: Name) {
            self.name = name
        }
    }
}

extension NetworkEvent.Kind {
    /// The call started.
    public static let started = Self(.started)

    /// The transport sends a request.
    public static let sent = Self(.sent)

    /// The call was cancelled.
    public static let cancelled = Self(.cancelled)

    /// The head of a response has arrived.
    ///
    /// - Parameter status: The status of the response.
    /// - Returns: The kind.
    public static func responded(status: Int) -> Self {
        Self(.responded).with { $0.status = status }
    }

    /// The response is a redirect, which is followed.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - target: The request that follows.
    /// - Returns: The kind.
    public static func redirected(status: Int, to target: RequestSummary) -> Self {
        Self(.redirected).with { ($0.status, $0.target) = (status, target) }
    }

    /// The attempt failed, and another one follows.
    ///
    /// - Parameters:
    ///   - pause: The pause before it.
    ///   - code: Why the attempt failed.
    ///   - status: The status of the response, where there was one.
    /// - Returns: The kind.
    public static func retrying(after pause: Duration, because code: NetworkError.Code, status: Int?) -> Self {
        Self(.retrying).with { ($0.pause, $0.code, $0.status) = (pause, code, status) }
    }

    /// The call succeeded.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - bytes: The bytes of the body that was read.
    /// - Returns: The kind.
    public static func succeeded(status: Int, bytes: Int) -> Self {
        Self(.succeeded).with { ($0.status, $0.bytes) = (status, bytes) }
    }

    /// The call failed.
    ///
    /// - Parameters:
    ///   - code: Why.
    ///   - status: The status of the response, where there was one.
    /// - Returns: The kind.
    public static func failed(_ code: NetworkError.Code, status: Int?) -> Self {
        Self(.failed).with { ($0.code, $0.status) = (code, status) }
    }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

/// Receives the events of calls, for logs, measurements and diagrams.
public protocol NetworkObserver: Sendable {
    /// Receives one event.
    ///
    /// The events of one call arrive in order, on any thread. The call continues when this returns.
    ///
    /// - Parameter event: The event.
    func receive(_ event: NetworkEvent)
}
