/// A response of an authorization server, or of a gateway in front of it, to a refresh.
///
/// The set grows. A ``RefreshBackend`` returns `false` for a response that it does not know.
public struct RefreshBackendResponse: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The response as text.
    public let rawValue: String

    /// Creates a response.
    ///
    /// - Parameter rawValue: The response as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The response as text.
    public var description: String { rawValue }
}

/// The server responds.
extension RefreshBackendResponse {
    /// New tokens for a valid refresh token.
    public static let tokens = Self(rawValue: "tokens")

    /// A rejection of the refresh token: `invalid_grant` (RFC 6749 §5.2), or the code of your server.
    public static let rejected = Self(rawValue: "rejected")

    /// An overloaded or failing server: 503, or another 5xx.
    public static let unavailable = Self(rawValue: "unavailable")

    /// Too many requests: 429 with `Retry-After: 7`.
    public static let tooManyRequests = Self(rawValue: "tooManyRequests")

    /// Success, with a body that is not a response to a refresh. Put the refresh token and the idempotency key into it
    /// if you can.
    public static let garbage = Self(rawValue: "garbage")

    /// Success, with an empty access token and no new refresh token.
    public static let emptyAccessToken = Self(rawValue: "emptyAccessToken")

    /// Success: the refresh token is exchanged, and the response has an empty access token and the new refresh token.
    public static let emptyAccessTokenAndNewRefreshToken = Self(rawValue: "emptyAccessTokenAndNewRefreshToken")
}

/// A proxy or gateway in front of the server responds.
extension RefreshBackendResponse {
    /// A refusal without a reason: 401 with an empty body, or with `{"message":"Unauthorized"}`.
    public static let ambiguous = Self(rawValue: "ambiguous")

    /// 403 with `{"message":"Forbidden"}`.
    public static let forbidden = Self(rawValue: "forbidden")

    /// 403 with an empty body.
    public static let emptyForbidden = Self(rawValue: "emptyForbidden")

    /// 200 with a page of HTML, as the sign-in page of a hotel's network.
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
    /// The connection is cut, or refused. The refresh token is not exchanged.
    public static let unreachable = Self(rawValue: "unreachable")

    /// The server exchanges the refresh token, and the connection is cut before the response arrives.
    public static let lostResponse = Self(rawValue: "lostResponse")

    /// Nothing, until the client closes the connection.
    public static let nothing = Self(rawValue: "nothing")
}

extension RefreshBackendResponse: CaseIterable {
    /// Every response that the contract uses.
    public static let allCases: [Self] =
        [tokens, nothing, emptyAccessTokenAndNewRefreshToken] + failures

    /// The responses of which a handler makes an error.
    static let failures: [Self] = [
        .rejected, .ambiguous, .unavailable, .tooManyRequests, .garbage, .emptyAccessToken, .forbidden,
        .emptyForbidden, .page, .unauthorizedPage, .forbiddenPage, .badGatewayPage, .unreachable, .lostResponse,
    ]

    /// The responses that are a page of HTML.
    static let pages: [Self] = [.page, .unauthorizedPage, .forbiddenPage, .badGatewayPage]

    /// The status of a page of HTML; `nil` for other responses.
    package var statusOfPage: Int? {
        switch self {
        case .page: 200
        case .unauthorizedPage: 401
        case .forbiddenPage: 403
        case .badGatewayPage: 502
        default: nil
        }
    }
}
