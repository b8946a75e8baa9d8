/// One thing that happened to a call.
public struct NetworkEvent: Sendable, Hashable {
    /// What can happen.
    public enum Kind: Sendable, Hashable {
        /// The call began.
        case started

        /// An attempt is adapted and goes to the transport.
        case sent

        /// The head of an answer is there.
        case answered(status: Int)

        /// The answer sends the request elsewhere, and it goes there.
        case redirected(status: Int, to: RequestSummary)

        /// The attempt failed and there will be another one.
        case retrying(after: Duration, because: NetworkError.Code, status: Int?)

        /// The call is done and its value read.
        case succeeded(status: Int, bytes: Int)

        /// The call failed.
        case failed(NetworkError.Code, status: Int?)

        /// The caller cancelled.
        case cancelled
    }

    /// What happened.
    public let kind: Kind

    /// The call it happened to. All its attempts share the name.
    public let id: RequestID

    /// The number of the attempt, from 1.
    public let attempt: Int

    /// What was asked.
    public let request: RequestSummary

    /// When it happened, on the uptime of the client's clock: differences mean something, values do not.
    public let uptime: Duration

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - id: The call it happened to.
    ///   - attempt: The number of the attempt, from 1.
    ///   - request: What was asked.
    ///   - uptime: When it happened.
    public init(kind: Kind, id: RequestID, attempt: Int, request: RequestSummary, uptime: Duration) {
        self.kind = kind
        self.id = id
        self.attempt = attempt
        self.request = request
        self.uptime = uptime
    }
}
