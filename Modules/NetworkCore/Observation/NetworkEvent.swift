public import struct Foundation.UUID

/// One event of a call. Events contain no secret (G17).
public struct NetworkEvent: Sendable, Hashable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// The call started.
        case started

        /// The interceptors have adapted a request, and the transport sends it.
        case sent

        /// The head of a response has arrived.
        case responded(status: Int)

        /// The response is a redirect, which is followed.
        case redirected(status: Int, to: RequestSummary)

        /// The attempt failed, and another one follows after a pause.
        case retrying(after: Duration, because: NetworkError.Code, status: Int?)

        /// The call succeeded, and its value has been read.
        case succeeded(status: Int, bytes: Int)

        /// The call failed.
        case failed(NetworkError.Code, status: Int?)

        /// The call was cancelled.
        case cancelled
    }

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

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - id: The identifier of the call.
    ///   - attempt: The number of the attempt, from 1.
    ///   - request: The request of the attempt.
    ///   - uptime: When it happened, on the uptime of the client's clock.
    public init(kind: Kind, id: UUID, attempt: Int, request: RequestSummary, uptime: Duration) {
        self.kind = kind
        self.id = id
        self.attempt = attempt
        self.request = request
        self.uptime = uptime
    }
}
