public import Foundation

/// An access token as a bundle holds it: the main one of a session, or that of one audience.
public struct AccessToken: Sendable, Hashable, Codable {
    /// The token that requests carry.
    public let value: String

    /// When it expires, on the server's clock as far as it is known. `nil`: not known.
    public let expiresAt: Date?

    /// How far the server's clock was ahead of this device's when the token was received, in seconds. Zero if the
    /// server's clock was not known.
    public let clockSkew: TimeInterval

    /// When the call that brought it was sent, on the same clock as ``expiresAt``. `nil`: not known.
    public let receivedAt: Date?

    /// Its scope, separated by spaces (RFC 6749 §3.3). `nil`: not known.
    public let scope: String?

    /// The generation of the bundle that brought it.
    public let generation: Int

    /// Creates a token.
    public init(
        value: String,
        expiresAt: Date? = nil,
        clockSkew: TimeInterval = 0,
        receivedAt: Date? = nil,
        scope: String? = nil,
        generation: Int
    ) {
        self.value = value
        self.expiresAt = expiresAt
        self.clockSkew = clockSkew
        self.receivedAt = receivedAt
        self.scope = scope
        self.generation = generation
    }

    /// How long it is valid from ``receivedAt`` on. `nil` if one of the two instants is not known, or their difference
    /// is not a plausible lifetime.
    public var lifetime: Duration? {
        guard let expiresAt, let receivedAt else { return nil }
        let seconds = expiresAt.timeIntervalSince(receivedAt)
        return seconds > 0 && seconds < 4e9 ? .seconds(seconds) : nil
    }
}

extension AccessToken: RedactedDescription {
    /// The generation; never the token.
    public var description: String { "AccessToken(generation: \(generation))" }
}
