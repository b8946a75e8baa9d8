/// A server's refusal of an access token.
public struct TokenRefusal: Sendable, Hashable {
    /// The token that the request carried.
    public var token: SessionToken

    /// The request, such as `GET https://api.example.com/articles`, without a secret.
    ///
    /// A refusal right after a refresh affects the callers of that endpoint only (G10). `nil` counts as one endpoint.
    public var endpoint: String?

    /// The HTTP status of the refusal.
    public var status: Int?

    /// Whether the response says that the token itself is invalid: `invalid_token` (RFC 6750 §3.1), or a code of the
    /// server's own. A session without a refresh token ends then (G22); a bare 401 does not end it.
    public var saysTokenIsInvalid: Bool

    /// The server's own error code.
    public var serverCode: String?

    /// The identifier of the request in the server's log.
    public var requestID: String?

    /// Creates a refusal.
    public init(
        of token: SessionToken,
        endpoint: String? = nil,
        saysTokenIsInvalid: Bool = false,
        status: Int? = nil,
        serverCode: String? = nil,
        requestID: String? = nil
    ) {
        self.token = token
        self.endpoint = endpoint
        self.saysTokenIsInvalid = saysTokenIsInvalid
        self.status = status
        self.serverCode = serverCode
        self.requestID = requestID
    }
}
