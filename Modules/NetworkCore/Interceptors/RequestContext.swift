public import AuthInterface
public import ConcurrencyPrimitives

public import struct Foundation.UUID

/// What is known of a call while it is under way.
public struct RequestContext: Sendable {
    /// Names the call in events and errors. All its attempts share it. It is not sent.
    public let id: RequestID

    /// The number of this attempt, from 1.
    public let attempt: Int

    /// The request method.
    public let method: HTTPMethod

    /// Whether the endpoint wants tokens from an authenticated client.
    public let requiresAuthentication: Bool

    /// Whether the call may be done more than once: by its method, or because it carries an idempotency key.
    public let isIdempotent: Bool

    /// Whether its body can be sent more than once (G21).
    public let isReplayable: Bool

    /// The session whose token the request carries. `nil`: it carries none, or not yet. A transport that keeps responses
    /// must not show one session's responses to another.
    public internal(set) var session: SessionID?

    /// The caller's tags, for interceptors, transports and observers.
    public let tags: [String: String]

    /// The clocks to go by.
    public let clock: any TimeSource

    /// When the call began, on the clock's uptime.
    public let startedAt: Duration

    /// Creates a context. Interceptors are given one; tests of interceptors make their own.
    ///
    /// - Parameters:
    ///   - id: Names the call.
    ///   - attempt: The number of this attempt, from 1.
    ///   - method: The request method.
    ///   - requiresAuthentication: Whether the endpoint wants tokens.
    ///   - isIdempotent: Whether the call may be done more than once.
    ///   - isReplayable: Whether its body can be sent more than once.
    ///   - session: The session whose token the request carries.
    ///   - tags: The caller's tags.
    ///   - clock: The clocks to go by.
    ///   - startedAt: When the call began, on the clock's uptime.
    public init(
        id: RequestID = RequestID(),
        attempt: Int = 1,
        method: HTTPMethod = .get,
        requiresAuthentication: Bool = true,
        isIdempotent: Bool = true,
        isReplayable: Bool = true,
        session: SessionID? = nil,
        tags: [String: String] = [:],
        clock: any TimeSource = SystemTimeSource(),
        startedAt: Duration = .zero
    ) {
        self.id = id
        self.attempt = attempt
        self.method = method
        self.requiresAuthentication = requiresAuthentication
        self.isIdempotent = isIdempotent
        self.isReplayable = isReplayable
        self.session = session
        self.tags = tags
        self.clock = clock
        self.startedAt = startedAt
    }

    /// The time since the call began.
    public var elapsed: Duration { clock.uptime - startedAt }
}

/// Our own name for one call, for events and errors. It is not sent.
public struct RequestID: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The name as text.
    public let rawValue: String

    /// Takes a name.
    ///
    /// - Parameter rawValue: The name as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes up a name.
    ///
    /// - Parameter uuid: The random value it is made of.
    public init(_ uuid: UUID = UUID()) {
        self.init(rawValue: uuid.uuidString)
    }

    /// Enough of the name to tell calls apart in a log.
    public var description: String { String(rawValue.prefix(8)) }
}
