public import Foundation

/// What goes wrong with a request.
public enum FaultAction: Sendable, Hashable {
    /// The request waits this long, then continues.
    case delay(Duration)
    /// The request waits between zero and this long, drawn from the plan's seed, then continues.
    case jitter(upTo: Duration)
    /// The handler runs and commits at once; its response waits this long.
    ///
    /// On a refresh: the token is rotated, and the client learns of it late.
    case delayResponse(Duration)
    /// The handler runs and commits at once; its response waits between zero and this long, drawn from the plan's seed.
    case jitterResponse(upTo: Duration)
    /// The handler does not run; this status is answered, in the envelope (or as an OAuth 2.0 error under `/oauth2`).
    ///
    /// `retryAfter` becomes a `Retry-After` field in whole seconds, rounded up; `code` the envelope's code.
    case respond(status: Int, retryAfter: Duration? = nil, code: String? = nil)
    /// The handler does not run; the answer is 401 `TOKEN_INVALID`, whatever token was sent.
    case refuseToken
    /// The handler does not run; the answer redirects to this URL with 301, 302, 303, 307 or 308.
    case redirect(to: URL, status: Int = 307)
    /// The handler does not run; a gateway in front of the server responds in its place.
    case gateway(GatewayResponse)
    /// The connection is closed before the handler runs.
    case closeBeforeHandler
    /// The handler runs and commits, then the connection is closed: the answer is lost.
    case closeAfterHandler
}
