/// A way in which an authorization server, or what stands in front of it, answers a refresh.
///
/// The set grows. A ``RefreshBackend`` returns `false` for a way that it does not know.
public struct RefreshBackendResponse: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The way as text.
    public let rawValue: String

    /// Creates a way.
    ///
    /// - Parameter rawValue: The way as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The way as text.
    public var description: String { rawValue }
}

/// The server responds.
extension RefreshBackendResponse {
    /// New tokens for a valid refresh token.
    public static let tokens = Self(rawValue: "tokens")

    /// The refresh token itself is refused: `invalid_grant` (RFC 6749 §5.2), or the code of your server.
    public static let rejected = Self(rawValue: "rejected")

    /// A server in trouble: 503, or the like.
    public static let unavailable = Self(rawValue: "unavailable")

    /// Too many requests: 429 with `Retry-After: 7`, or the like.
    public static let tooManyRequests = Self(rawValue: "tooManyRequests")

    /// Success, with a body that is no response to a refresh. Put the refresh token and the idempotency key into it if
    /// you can.
    public static let garbage = Self(rawValue: "garbage")

    /// Success, with an empty access token and no new refresh token.
    public static let emptyAccessToken = Self(rawValue: "emptyAccessToken")

    /// Success: the refresh token is exchanged, and the response has an empty access token beside the new refresh token.
    public static let emptyAccessTokenAndNewRefreshToken = Self(rawValue: "emptyAccessTokenAndNewRefreshToken")
}

/// Something in front of the server responds.
extension RefreshBackendResponse {
    /// A refusal that names no reason: 401 with an empty body, or with `{"message":"Unauthorized"}`.
    public static let ambiguous = Self(rawValue: "ambiguous")

    /// 403 with `{"message":"Forbidden"}`, as gateways send it.
    public static let forbidden = Self(rawValue: "forbidden")

    /// 403 with an empty body.
    public static let emptyForbidden = Self(rawValue: "emptyForbidden")

    /// 200 with a page of HTML, as a hotel's network sends it.
    public static let page = Self(rawValue: "page")

    /// 401 with a page of HTML.
    public static let unauthorizedPage = Self(rawValue: "unauthorizedPage")

    /// 403 with a page of HTML.
    public static let forbiddenPage = Self(rawValue: "forbiddenPage")

    /// 502 with a page of HTML.
    public static let badGatewayPage = Self(rawValue: "badGatewayPage")
}

/// No response arrives.
extension RefreshBackendResponse {
    /// A cut connection, or no server at the other end. The refresh token is not exchanged.
    public static let unreachable = Self(rawValue: "unreachable")

    /// The server exchanges the refresh token, and the connection is cut before the response arrives.
    public static let lostResponse = Self(rawValue: "lostResponse")

    /// Nothing at all, until the caller gives up.
    public static let nothing = Self(rawValue: "nothing")
}

extension RefreshBackendResponse: CaseIterable {
    /// Every way that the contract uses.
    public static let allCases: [Self] =
        [tokens, nothing, emptyAccessTokenAndNewRefreshToken] + failures

    /// The ways that a handler makes an error of.
    static let failures: [Self] = [
        .rejected, .ambiguous, .unavailable, .tooManyRequests, .garbage, .emptyAccessToken, .forbidden,
        .emptyForbidden, .page, .unauthorizedPage, .forbiddenPage, .badGatewayPage, .unreachable, .lostResponse,
    ]

    /// The ways that are a page of HTML.
    static let pages: [Self] = [.page, .unauthorizedPage, .forbiddenPage, .badGatewayPage]
}
