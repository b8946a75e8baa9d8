public import Foundation

/// The tokens of one session, as they are stored.
///
/// A bundle never changes: a refresh creates a new one with the next *generation*. ``session`` says whether two bundles
/// belong to the same login, and ``generation`` which of them is newer. Neither needs a clock.
///
/// Descriptions, dumps and reflections of a bundle never contain a token.
public struct TokenBundle: Sendable, Hashable, Codable {
    /// The token that requests carry.
    public private(set) var accessToken: String

    /// The token that is exchanged for the next access token, if the server issued one.
    public private(set) var refreshToken: String?

    /// When the access token expires, on the server's clock as far as it is known. `nil`: not known.
    public let expiresAt: Date?

    /// How far the server's clock was ahead of this device's when the bundle was received, in seconds. Zero if the
    /// server's clock was not known.
    public let clockSkew: TimeInterval

    /// The login these tokens belong to. A new sign-in has a new identity, even of the same user.
    public let session: SessionID

    /// How many refreshes lie between the sign-in (0) and this bundle.
    public private(set) var generation: Int

    /// When the call that brought the access token was sent, on the same clock as ``expiresAt``. `nil`: not known.
    ///
    /// With ``expiresAt`` it gives the token's ``lifetime``, which decides when the token is refreshed in every process
    /// that uses it (G3).
    public let receivedAt: Date?

    /// When the session was signed in, on the clock of the device that did it. `nil`: not known.
    ///
    /// It stays the same when the tokens are refreshed.
    public let signedInAt: Date?

    /// The ordinal as it is stored. `nil`: none.
    package private(set) var storedOrdinal: SessionOrdinal?

    /// Whose tokens they are. `nil`: not known. It stays the same when the tokens are refreshed (G31).
    public let subject: TokenSubject?

    /// The scope of the access token, separated by spaces (RFC 6749 §3.3). `nil`: not known.
    public let scope: String?

    /// The intent of the refresh that was about to be made with ``refreshToken`` when the bundle was stored. `nil`:
    /// none.
    public private(set) var refreshIntent: RefreshIntent?

    /// The key to which the tokens are bound (DPoP, RFC 9449), with the last nonces of the servers. `nil`: none.
    public let binding: TokenBinding?

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, expiresAt, clockSkew, session, generation, receivedAt, signedInAt, binding
        case subject, scope
        case storedOrdinal = "ordinal"
        // The name in stored data.
        case refreshIntent = "pendingRefresh"
    }

    /// Creates a bundle from its parts.
    public init(
        accessToken: String,
        refreshToken: String?,
        expiresAt: Date? = nil,
        clockSkew: TimeInterval = 0,
        session: SessionID = SessionID(),
        generation: Int = 0,
        receivedAt: Date? = nil,
        refreshIntent: RefreshIntent? = nil,
        signedInAt: Date? = nil,
        binding: TokenBinding? = nil,
        subject: TokenSubject? = nil,
        scope: String? = nil,
        ordinal: SessionOrdinal? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.clockSkew = clockSkew
        self.session = session
        self.generation = generation
        self.receivedAt = receivedAt
        self.refreshIntent = refreshIntent
        self.signedInAt = signedInAt
        self.binding = binding
        self.subject = subject
        self.scope = scope
        storedOrdinal = ordinal
    }

    private func changed(_ change: (inout TokenBundle) -> Void) -> TokenBundle {
        var copy = self
        change(&copy)
        return copy
    }

    /// Of two sessions it says which one was signed in later. It stays the same when the tokens are refreshed. A bundle
    /// of an earlier version has the ordinal of its ``signedInAt``, or else, until its first refresh, of its
    /// ``receivedAt`` on the device's clock, or ``SessionOrdinal/unknown``.
    public var ordinal: SessionOrdinal {
        if let storedOrdinal { return storedOrdinal }
        let begunAt = signedInAt ?? (generation == 0 ? receivedAt.map { $0 - clockSkew } : nil)
        return begunAt.map { SessionOrdinal(at: $0) } ?? .unknown
    }

    /// How long the access token is valid from ``receivedAt`` on. `nil` if one of the two instants is not known, or
    /// their difference is not a plausible lifetime.
    public var lifetime: Duration? {
        guard let expiresAt, let receivedAt else { return nil }
        let seconds = expiresAt.timeIntervalSince(receivedAt)
        return seconds > 0 && seconds < 4e9 ? .seconds(seconds) : nil
    }

    /// The same tokens, with the intent of the refresh that is about to be made; `nil` for none.
    public func with(refreshIntent intent: RefreshIntent?) -> TokenBundle {
        guard intent != nil || refreshIntent != nil else { return self }
        return changed { $0.refreshIntent = intent }
    }

    /// The bundle for a follower (G29): without the refresh token, and without the intent, whose key is a secret too.
    ///
    /// A device or process that gets this bundle can send requests, and can never spend the refresh token.
    public var withoutRefreshToken: TokenBundle {
        changed {
            $0.refreshToken = nil
            $0.refreshIntent = nil
        }
    }

    /// The bundle of a session whose access token has expired, for a follower: which session it is, without a token.
    package var withoutTokens: TokenBundle { withoutRefreshToken.changed { $0.accessToken = "" } }

    /// The same tokens in a later generation.
    package func moved(to generation: Int) -> TokenBundle { changed { $0.generation = generation } }

    /// The same tokens with the ordinal that is known of their session: an earlier version drops it when it refreshes.
    package func with(ordinal: SessionOrdinal) -> TokenBundle { changed { $0.storedOrdinal = ordinal } }

    /// The plausible generations: 2^48 are enough for a refresh every millisecond for 8,900 years, and none of them
    /// overflows when the next one is counted. Where an `Int` has 32 bits, as on a watch, all it has.
    package static let generations = 0..<Int(clamping: Int64(1) << 48)

    /// Whether another bundle is the same generation of the same login with the same tokens. Their intents
    /// may differ.
    public func hasSameTokens(as other: TokenBundle) -> Bool {
        session == other.session && generation == other.generation && accessToken == other.accessToken
            && refreshToken == other.refreshToken
    }

    /// Whether the access token has expired at an instant of the server's clock: from ``expiresAt`` on. Without an
    /// expiry, a token is valid until the server refuses it.
    public func isExpired(at date: Date) -> Bool { expiresAt.map { date >= $0 } ?? false }

    /// Whether both bundles belong to one session and this one came later.
    package func supersedes(_ other: TokenBundle) -> Bool { session == other.session && generation > other.generation }

    /// The access token, for a request.
    public var token: SessionToken {
        SessionToken(
            value: accessToken, refreshToken: refreshToken, session: session, generation: generation, binding: binding)
    }
}

extension TokenBundle: RedactedDescription {
    /// The session and generation; never a token.
    public var description: String {
        "TokenBundle(session: \(session), generation: \(generation), refreshable: \(refreshToken != nil))"
    }
}
