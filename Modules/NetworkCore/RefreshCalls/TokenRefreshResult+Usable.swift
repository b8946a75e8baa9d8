package import AuthInterface

extension TokenRefreshResult {
    /// The result, if it holds a token that can be used.
    ///
    /// A new refresh token beside an empty access token is one: the server has spent the old refresh token.
    ///
    /// - Parameters:
    ///   - request: The request of the call.
    ///   - status: The status of the response.
    /// - Returns: The result.
    /// - Throws: `TokenRefreshError` with code `unavailable` when there is neither an access token nor a new refresh
    ///   token.
    package func usable(after request: TokenRefreshRequest, status: Int?) throws(TokenRefreshError)
        -> TokenRefreshResult
    {
        let isRotated = refreshToken.map { !$0.isEmpty && $0 != request.refreshToken } ?? false
        guard !accessToken.isEmpty || isRotated else {
            throw TokenRefreshError(.unavailable, reason: "the response has no access token", status: status)
        }
        return self
    }
}
