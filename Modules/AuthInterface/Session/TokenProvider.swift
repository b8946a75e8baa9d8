public import struct Foundation.Date

/// The seam between HTTP and the refresh engine: a token for this request, and a better one than the one refused.
///
/// An HTTP client of any make needs only these two calls to be authenticated:
///
/// ```swift
/// let token = try await provider.token()
/// // … send; when the server refuses it:
/// let fresh = try await provider.replacement(for: token)
/// ```
public protocol TokenProvider: Sendable {
    /// The token for a request that starts now, refreshed first when it must be.
    ///
    /// With a valid token this neither suspends nor waits for anyone (G18).
    ///
    /// - Returns: A token that is not known to be expired.
    /// - Throws: ``AuthenticationError``; `CancellationError` at once when the task is cancelled, which disturbs
    ///   neither a refresh under way nor anybody else who waits for it (G7).
    func token() async throws -> SessionToken

    /// A token to try in place of one that the server has refused.
    ///
    /// If the current token is already another than the refused one, it is returned and nothing is refreshed (G2).
    ///
    /// - Parameter refusal: The token that the request carried, and what is known of the refusal.
    /// - Returns: A token of the same session, other than the refused one.
    /// - Throws: ``AuthenticationError``: `sessionEnded` when the refused token's session is over, so that a request
    ///   is never sent again as another user (G23); `unauthorized` when the refused token is itself fresh from a
    ///   refresh (G10). `CancellationError` as for ``token()``.
    func replacement(after refusal: TokenRefusal) async throws -> SessionToken

    /// Tells the engine the time on the server's clock, as an answer's `Date` field gave it.
    ///
    /// It is used to read the stored expiry of a restored session on a device whose clock is wrong (G19). The default
    /// does nothing, which is right for a provider that counts no expiry.
    ///
    /// - Parameter date: The instant of the answer on the server's clock.
    func noteServerDate(_ date: Date)
}

extension TokenProvider {
    /// A token to try in place of one that the server has refused, where nothing more is known of the refusal.
    ///
    /// - Parameter refused: The token that the request carried.
    /// - Returns: A token of the same session, other than the refused one.
    /// - Throws: As ``replacement(after:)``.
    public func replacement(for refused: SessionToken) async throws -> SessionToken {
        try await replacement(after: TokenRefusal(of: refused))
    }

    /// Ignores the server's clock.
    ///
    /// - Parameter date: The instant of the answer on the server's clock.
    public func noteServerDate(_ date: Date) {}
}

/// A server's refusal of an access token.
public struct TokenRefusal: Sendable, Hashable {
    /// The token that the request carried.
    public var token: SessionToken

    /// What was asked, such as `GET https://api.example.com/articles`, without a secret.
    ///
    /// A token refused by one endpoint right after a refresh costs that endpoint's callers only (G10). `nil` counts as
    /// one endpoint of its own.
    public var endpoint: String?

    /// Whether the response says that the token itself is invalid: `invalid_token` (RFC 6750 §3.1), or a code of the
    /// server's own. A session without a refresh token ends then (G22); a bare 401 does not end it.
    public var saysTokenIsInvalid: Bool

    /// The HTTP status of the refusal.
    public var status: Int?

    /// The server's own error code.
    public var serverCode: String?

    /// The identifier by which the server's log knows the request.
    public var requestID: String?

    /// Creates a refusal.
    ///
    /// - Parameters:
    ///   - token: The token that the request carried.
    ///   - endpoint: What was asked, without a secret.
    ///   - saysTokenIsInvalid: Whether the response says that the token itself is invalid.
    ///   - status: The HTTP status.
    ///   - serverCode: The server's own error code.
    ///   - requestID: The identifier by which the server's log knows the request.
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
