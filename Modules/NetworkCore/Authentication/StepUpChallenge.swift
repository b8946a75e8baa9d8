public import AuthInterface

/// What a server demands before it accepts a call whose token is valid: a sign-in by a stronger method, a more recent
/// one, or one with more rights (G32).
///
/// It is neither a refusal of the token nor the end of the session: no refresh helps. The application signs the user in
/// again with these values, passes the tokens to `AuthSession.stepUp(_:)`, and sends the call again.
///
/// Each text is one of the server's, and bounded: a longer one, or one that quotes a token of the call, is left out.
public struct StepUpChallenge: Sendable, Hashable {
    /// The most bytes of each text.
    public static let maximumLength = 4_096

    /// What the server demands, as its error code. The set is open.
    public struct Demand: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
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

        /// The error code.
        public var description: String { rawValue }
    }

    /// What the server demands.
    public let demand: Demand

    /// The classes of authentication, one of which the server demands, in its order of preference (`acr_values`,
    /// RFC 9470 §3).
    public private(set) var acrValues: [String] = []

    /// How old the sign-in may be (`max_age`, RFC 9470 §3). `nil`: any age.
    public private(set) var maxAge: Duration?

    /// The scope that the call needs, separated by spaces (RFC 6750 §3). `nil`: the server does not say.
    public private(set) var scope: String?

    /// The claims that the token must have, as the server wrote them: JSON, which Microsoft encodes in Base64.
    public private(set) var claims: String?

    /// Creates a challenge, for tests and previews.
    public init(
        _ demand: Demand,
        acrValues: [String] = [],
        maxAge: Duration? = nil,
        scope: String? = nil,
        claims: String? = nil
    ) {
        (self.demand, self.acrValues, self.maxAge, self.scope, self.claims) = (demand, acrValues, maxAge, scope, claims)
    }

    /// Reads a challenge. `nil`: it demands nothing.
    init?(_ challenge: AuthenticationChallenge, withoutQuoting secrets: [String]) {
        // DPoP has a scheme of its own (RFC 9449 §7.1).
        guard ["bearer", "dpop"].contains(challenge.scheme), let error = challenge.parameters["error"]?.lowercased()
        else { return nil }
        func text(_ name: String) -> String? {
            guard let text = challenge.parameters[name], text.utf8.count <= Self.maximumLength,
                !secrets.contains(where: { !$0.isEmpty && text.contains($0) }),
                text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
            else { return nil }
            return text
        }
        demand = Demand(rawValue: error)
        claims = text("claims")
        guard [.userAuthentication, .scope].contains(demand) || (demand == .claims && claims != nil) else { return nil }
        acrValues = text("acr_values")?.split(separator: " ").map(String.init) ?? []
        maxAge = text("max_age").flatMap(UInt32.init).map { .seconds(Int64($0)) }
        scope = text("scope")
    }
}

extension StepUpChallenge: RedactedDescription {
    /// What is demanded; never the claims, which may name the user.
    public var description: String {
        var parts = [demand.rawValue]
        if !acrValues.isEmpty { parts.append("acr_values \(acrValues.joined(separator: " "))") }
        if let maxAge { parts.append("max_age \(maxAge.components.seconds)") }
        if let scope { parts.append("scope \(scope)") }
        if claims != nil { parts.append("claims") }
        return parts.joined(separator: ", ")
    }
}

extension NetworkError {
    /// The statuses with which a challenge may come: 401 (RFC 9470 §3) and 403 (RFC 6750 §3.1).
    private static let stepUpStatuses: Set = [401, 403]

    /// The error of a call that demands a step-up. `nil`: it does not, or its token is invalid as well.
    func demandingStepUp(orOneOf statuses: Set<Int>, withoutQuoting secrets: [String]) -> NetworkError? {
        guard let response, statuses.union(Self.stepUpStatuses).contains(response.status),
            let field = response.headers["WWW-Authenticate"], !response.saysBearerTokenIsInvalid
        else { return nil }
        let challenges = AuthenticationChallenge.challenges(in: field)
        guard let stepUp = challenges.lazy.compactMap({ StepUpChallenge($0, withoutQuoting: secrets) }).first else {
            return nil
        }
        return demanding(stepUp)
    }
}
