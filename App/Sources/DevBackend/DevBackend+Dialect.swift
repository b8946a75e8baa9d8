extension DevBackend {
    /// Where the server looks for tokens, and how it refuses an expired one: real servers differ in these points.
    public struct Dialect: Sendable, Hashable {
        /// The status of the response to an expired access token.
        public var expiredTokenStatus = ExpiredTokenStatus.unauthorized

        /// A header field that may carry the access token instead of `Authorization`, such as `accessToken`.
        public var accessTokenField: String?

        /// A header field that may carry the refresh token of a refresh call instead of the body.
        public var refreshTokenField: String?

        /// Whether a refresh needs the access token of the session, expired or not, where any other request has it.
        public var refreshNeedsAccessToken = false

        /// Creates the dialect of bearer tokens, and 401 for an expired token.
        public init() {}

        /// Tokens are in the header fields `accessToken` and `refreshToken`, and a refresh needs both.
        public static let tokenFields: Dialect = {
            var dialect = Dialect()
            dialect.accessTokenField = "accessToken"
            dialect.refreshTokenField = "refreshToken"
            dialect.refreshNeedsAccessToken = true
            return dialect
        }()

        /// The header fields that commonly carry credentials, and those of the dialect, by their lower-case names.
        var credentialFields: Set<String> {
            let usual: Set = [
                "authorization", "proxy-authorization", "cookie", "accesstoken", "refreshtoken", "access-token",
                "refresh-token", "x-access-token", "x-refresh-token", "x-auth-token", "x-api-key",
            ]
            return usual.union([accessTokenField, refreshTokenField].compactMap { $0?.lowercased() })
        }
    }

    /// The status of the response to an expired access token. An invalid or revoked one always gets 401.
    public enum ExpiredTokenStatus: Int, Sendable {
        /// 401, as in RFC 6750 §3.1.
        case unauthorized = 401
        /// 419, unregistered but widespread.
        case authenticationTimeout = 419
    }
}
