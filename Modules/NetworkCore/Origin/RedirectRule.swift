/// Which redirects of its response a call follows. Any other one fails the call with code `redirectRefused`.
public enum RedirectRule: Sendable, Hashable {
    /// All that are safe: a request that leaves its origin carries no token and no body.
    case follow

    /// Those within the origin of the request.
    case followWithinOrigin

    /// None, so only the response of the endpoint itself counts. Every 3xx fails.
    ///
    /// A call that asks for tokens, or ends them, follows none (G15): a redirect makes a `GET` of a `POST`, and what
    /// another place then responds with would be taken for the tokens of the user.
    case refuse
}

extension RedirectRule {
    /// The rule of a call that names none. A call that may change something, and carries no token of a session, is most
    /// often a sign-in: what responds must be the origin that was asked.
    static func standard(for method: HTTPMethod, carriesToken: Bool) -> RedirectRule {
        carriesToken || method.isSafe ? .follow : .followWithinOrigin
    }
}
