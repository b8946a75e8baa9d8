public import Foundation

/// A fault of one request.
public enum FaultAction: Sendable, Hashable {
    /// The request waits this long, then continues.
    case delay(Duration)
    /// The request waits between zero and this long, drawn from the plan's seed, then continues.
    case jitter(upTo: Duration)
    /// The handler runs and commits at once; its response waits this long.
    ///
    /// On a refresh the token is rotated at once, and the client gets the new one late.
    case delayResponse(Duration)
    /// The handler runs and commits at once; its response waits between zero and this long, drawn from the plan's seed.
    case jitterResponse(upTo: Duration)
    /// The handler does not run; the response has this status, in the envelope (an OAuth 2.0 error under `/oauth2`).
    ///
    /// `retryAfter` becomes a `Retry-After` field in whole seconds, rounded up; `code` the envelope's code.
    case respond(status: Int, retryAfter: Duration? = nil, code: String? = nil)
    /// The handler does not run; the response is 401 `TOKEN_INVALID` for any token.
    case refuseToken
    /// The handler does not run; the response redirects to this URL with 301, 302, 303, 307 or 308.
    case redirect(to: URL, status: Int = 307)
    /// The handler does not run; the response is that of a gateway in front of the server.
    case gateway(GatewayResponse)
    /// The connection is closed before the handler runs.
    case closeBeforeHandler
    /// The handler runs and commits, then the connection is closed: the response is lost.
    case closeAfterHandler
}
