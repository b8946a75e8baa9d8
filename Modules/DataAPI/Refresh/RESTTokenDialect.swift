public import NetworkCore

/// How a server writes its calls and responses about tokens: paths, names and dates.
///
/// A response is read under every common name, whatever the dialect says: `accessToken` and `access_token`, in the
/// `data` of an envelope or plain. So only what is sent must be said, and dates that are not placed by themselves.
///
/// | server | its refresh call | its response | dialect |
/// |---|---|---|---|
/// | an envelope, refusals with 401 | `{"refreshToken":…}` | `{"success":true,"data":{"accessToken":…,"refreshToken":…}}` | ``standard`` |
/// | plain JSON | `{"refreshToken":…}` | `{"accessToken":…,"refreshToken":…}` | ``standard`` |
/// | snake case in the call, camel case in the response | `{"refresh_token":…}` | `{"accessToken":…,"refreshToken":…,"expiresAt":…}` | ``snakeCase`` |
/// | an instant as a plain `JSONDecoder` reads it, seconds since 2001 | any | `{…,"expiresAt":813456000}` | ``standard``; ``dates`` says it for certain |
///
/// What a refusal looks like is ``RESTRejection``, and in which header fields tokens are sent is said where the handler
/// is made.
public struct RESTTokenDialect: Sendable, Hashable {
    /// The path of the refresh call, below the base URL.
    public var refreshPath: EndpointPath = "auth/refresh"

    /// The path of the call that ends a session.
    public var logoutPath: EndpointPath = "auth/logout"

    /// The member of a call that holds the refresh token.
    public var refreshTokenName = "refreshToken"

    /// The member of a refresh call that holds the replaced access token, where the server needs it in the body.
    public var accessTokenName = "accessToken"

    /// How the instant of expiry is written.
    public var dates = TokenDates.automatic

    /// Creates the standard dialect.
    public init() {}

    /// Camel case in calls.
    public static let standard = RESTTokenDialect()

    /// Snake case in calls: `{"refresh_token":…}`.
    public static var snakeCase: RESTTokenDialect {
        var dialect = RESTTokenDialect()
        (dialect.refreshTokenName, dialect.accessTokenName) = ("refresh_token", "access_token")
        return dialect
    }
}
