/// What a server demands of the user before it goes on: a sign-in by a stronger method, a more recent one, one with
/// more rights, or an action such as a consent or a new password (G32).
///
/// A resource demands it for one call, whose token is valid; a token endpoint for the next token. It is neither a
/// refusal of a token nor the end of the session, and no refresh helps. The application signs the user in again with
/// these values and passes the tokens to ``AuthSession/stepUp(_:)``.
///
/// Each text is one of the server's, and bounded: a longer one, or one that quotes a token of the call, is left out.
public struct StepUpChallenge: Sendable, Hashable, Codable {
    /// The most bytes of each text: the whole is stored beside a failed refresh.
    package static let maximumLength = 2_048

    /// What the server demands, as its error code. The set is open.
    public struct Demand: Sendable, Hashable, Codable, RawRepresentable, CustomStringConvertible {
        /// The error code, in lower case.
        public let rawValue: String

        /// Creates a demand.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A stronger or more recent sign-in (RFC 9470 §3).
        public static let userAuthentication = Demand(rawValue: "insufficient_user_authentication")

        /// A wider scope (RFC 6750 §3.1).
        public static let scope = Demand(rawValue: "insufficient_scope")

        /// Other claims, in the form of Microsoft's identity platform.
        public static let claims = Demand(rawValue: "insufficient_claims")

        /// A page on which the user does what the server wants (OpenID Connect Core §3.1.2.6).
        public static let interaction = Demand(rawValue: "interaction_required")

        /// The key to which the tokens are bound is not here (G34): a sign-in makes another one.
        public static let key = Demand(rawValue: "key_not_found")

        /// The error code.
        public var description: String { rawValue }
    }

    /// What the server demands.
    public let demand: Demand

    /// The classes of authentication, one of which the server demands, in its order of preference (`acr_values`,
    /// RFC 9470 §3).
    public let acrValues: [String]

    /// How old the sign-in may be (`max_age`, RFC 9470 §3). `nil`: any age.
    public let maxAge: Duration?

    /// The scope that is needed, separated by spaces (RFC 6750 §3). `nil`: the server does not say.
    public let scope: String?

    /// The claims that the token must have, as the server wrote them: JSON, which Microsoft encodes in Base64.
    public let claims: String?

    /// Why, in a server's own finer code, such as `basic_action` (Microsoft) or `invalid_rapt` (Google).
    public let suberror: String?

    /// Creates a challenge. A text that is too long, or has characters other than those of a header field, is left out.
    public init(
        _ demand: Demand,
        acrValues: [String] = [],
        maxAge: Duration? = nil,
        scope: String? = nil,
        claims: String? = nil,
        suberror: String? = nil
    ) {
        self.demand = demand
        self.acrValues = Self.bounded(acrValues.joined(separator: " ")) == nil ? [] : acrValues
        self.maxAge = maxAge
        self.scope = Self.bounded(scope)
        self.claims = Self.bounded(claims)
        self.suberror = Self.bounded(suberror)
    }

    private static func bounded(_ text: String?) -> String? {
        guard let text, text.utf8.count <= maximumLength, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { return nil }
        return text
    }
}

extension StepUpChallenge: RedactedDescription {
    /// What is demanded; never the claims, which may name the user.
    public var description: String {
        var parts = [demand.rawValue]
        if let suberror { parts.append(suberror) }
        if !acrValues.isEmpty { parts.append("acr_values \(acrValues.joined(separator: " "))") }
        if let maxAge { parts.append("max_age \(maxAge.components.seconds)") }
        if let scope { parts.append("scope \(scope)") }
        if claims != nil { parts.append("claims") }
        return parts.joined(separator: ", ")
    }
}
