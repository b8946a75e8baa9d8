public import AuthInterface
public import ConcurrencyPrimitives

public import struct Foundation.UUID

/// The state of a call, for interceptors.
public struct RequestContext: Sendable {
    /// The identifier of the call in events, which all its attempts share. It is random and not sent.
    public let id: UUID

    /// The number of this attempt, from 1.
    public let attempt: Int

    /// How many of the attempts before this one were sent again because they had failed. An attempt with a token in
    /// place of one that was refused, or with the proof that a server asked for, is no retry.
    public let retries: Int

    /// The request method.
    public let method: HTTPMethod

    /// Whether the call may be sent more than once: its method is idempotent, or it has an idempotency key.
    public let isIdempotent: Bool

    /// Whether the body can be sent more than once (G21).
    public let isReplayable: Bool

    /// The session whose token the request carries, or carried before a redirect led to another origin. `nil`: none, or
    /// not yet. A transport that keeps responses must not show one session's responses to another.
    public internal(set) var session: SessionID?

    /// The caller's tags, for interceptors, transports and observers.
    public let tags: [String: String]

    /// The clock of the client.
    public let clock: any TimeSource

    /// Whether the server recognizes a call that is sent twice.
    var hasIdempotencyKey = false

    /// Whether a kept connection will not do: one is not for the origin (421, RFC 9110 §15.5.20), or was lost.
    package internal(set) var needsNewConnection = false

    /// What the endpoint marks as secrets, so that no recording of the request shows them.
    var secrets: [String] = []

    /// What the call has carried of the session's tokens.
    package var carried: [String] = []

    /// The tokens of the session that the call has carried. No recording shows them, and a cache does not compare them.
    /// One that may be in other fields by accident is left out.
    package var tokens: [String] { carried.filter(\.isUnmistakable) }

    /// What the call has to send, whose secrets no recording of a request shows. `nil`: not known beside the request.
    package var message: CallMessage?

    /// Creates a context, for tests of interceptors. Without a word on it, the method says whether the call is
    /// idempotent, and each attempt after the first is a retry.
    public init(
        id: UUID = UUID(),
        attempt: Int = 1,
        retries: Int? = nil,
        method: HTTPMethod = .get,
        isIdempotent: Bool? = nil,
        isReplayable: Bool = true,
        session: SessionID? = nil,
        tags: [String: String] = [:],
        clock: any TimeSource = SystemTimeSource()
    ) {
        self.id = id
        self.attempt = attempt
        self.retries = retries ?? max(0, attempt - 1)
        self.method = method
        self.isIdempotent = isIdempotent ?? method.isIdempotent
        self.isReplayable = isReplayable
        self.session = session
        self.tags = tags
        self.clock = clock
    }
}

extension RequestContext: RedactedDescription {
    /// The method and the attempt: neither tags nor what the call carries (G17).
    public var description: String { "\(method), attempt \(attempt)" }
}
