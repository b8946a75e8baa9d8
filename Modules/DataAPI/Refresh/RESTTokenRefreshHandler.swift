public import AuthInterface
public import NetworkCore

/// Refreshes by `POST auth/refresh {refreshToken}`, and revokes by `POST auth/logout {refreshToken}`.
///
/// It takes an `OpenNetworkService`, so it cannot be given a client that would wait for this very refresh (G20).
public struct RESTTokenRefreshHandler: TokenRefreshHandler, TokenRevocationHandler {
    private let network: any OpenNetworkService
    private let rejection: RESTRejection

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - network: Sends the calls, without tokens.
    ///   - rejection: Which answers mean that the server refuses the refresh token itself.
    public init(network: any OpenNetworkService, rejection: RESTRejection = RESTRejection()) {
        self.network = network
        self.rejection = rejection
    }

    /// Exchanges a refresh token for new tokens. The call is made once.
    ///
    /// - Parameter refreshToken: The current refresh token.
    /// - Returns: The new tokens.
    /// - Throws: `TokenRefreshError` with the verdict of ``RESTRejection/verdict(on:)``; `CancellationError`.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let refreshToken = request.refreshToken
        do {
            return try await network.send(.refresh(refreshToken)).result
        } catch let error as NetworkError {
            throw rejection.verdict(on: error.withoutQuoting(refreshToken))
        }
    }

    /// Tells the server that a session is over. A session without a refresh token cannot be told of, and is not.
    ///
    /// - Parameter tokens: The tokens of the session.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func revoke(_ tokens: TokenBundle) async throws {
        guard let refreshToken = tokens.refreshToken else { return }
        try await network.send(.logout(refreshToken: refreshToken))
    }
}

/// Which answers of the refresh call mean that the server refuses the refresh token itself (G4).
///
/// The rule, in order:
///
/// | answer | verdict |
/// |---|---|
/// | none: no connection, time-out, cut off | unavailable |
/// | a page instead of an answer: a proxy's, a firewall's, a hotel's | unavailable |
/// | 400, 401, 403, or `"success": false`, with a code of ``refreshTokenCodes`` | rejected |
/// | 401 or 403 without a code, or with one of ``statusCodes`` | rejected |
/// | 400, 401 or 403 with any other code: the client is at fault, or the app is too old | unavailable |
/// | every other status, whatever the code: 404, 408, 425, 429, 5xx, … | unavailable |
/// | a good status that cannot be read | unavailable |
///
/// In doubt the session stays: a request that fails can be sent again, and a user who was signed out cannot be signed
/// in again without being asked.
public struct RESTRejection: Sendable, Hashable {
    /// The codes that speak of the refresh token or its session.
    public var refreshTokenCodes: Set<String> = [
        "REFRESH_TOKEN_INVALID", "REFRESH_TOKEN_EXPIRED", "REFRESH_TOKEN_REUSED", "REFRESH_TOKEN_REVOKED",
        "REFRESH_TOKEN_NOT_FOUND", "SESSION_REVOKED", "SESSION_EXPIRED",
    ]

    /// The codes that say no more than the status 401 or 403 does. The refresh token is the call's only credential, so
    /// it is what was refused.
    public var statusCodes: Set<String> = [
        "401", "403", "UNAUTHORIZED", "UNAUTHENTICATED", "FORBIDDEN", "TOKEN_INVALID", "TOKEN_EXPIRED",
        "INVALID_TOKEN", "EXPIRED_TOKEN",
    ]

    /// Creates the documented rule. Add the codes of a server that has its own.
    public init() {}

    /// What a failed refresh call means.
    ///
    /// - Parameter error: Why the call failed.
    /// - Returns: *rejected* when the server has refused the refresh token itself; otherwise *unavailable*, with the
    ///   time the server asked for.
    public func verdict(on error: NetworkError) -> TokenRefreshError {
        guard let status = error.status, isAnswer(error) else { return TokenRefreshError(unavailable: error) }
        let code = error.envelope?.code
        switch (error.code, status) {
        case (.unsuccessful, _), (.unacceptableStatus, 400), (.unacceptableStatus, 401), (.unacceptableStatus, 403):
            if let code, refreshTokenCodes.contains(code) { return TokenRefreshError(rejected: error) }
            guard status == 401 || status == 403 else { return TokenRefreshError(unavailable: error) }
            guard let code, !statusCodes.contains(code) else { return TokenRefreshError(rejected: error) }
            return TokenRefreshError(
                unavailable: error, hint: "the code does not speak of the refresh token, so the session stays"
            )
        default:
            return TokenRefreshError(unavailable: error)
        }
    }

    /// Whether the API itself has answered. What stands in front of it answers with pages, and those say nothing about
    /// a token.
    private func isAnswer(_ error: NetworkError) -> Bool {
        guard error.envelope == nil, let type = error.response?.headers["Content-Type"] else { return true }
        return type.lowercased().contains("json")
    }
}
