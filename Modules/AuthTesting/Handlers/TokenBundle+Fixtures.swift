public import AuthInterface

public import struct Foundation.Date

extension TokenBundle {
    /// A bundle for tests, with tokens of a ``RotatingTokenServer``.
    ///
    /// - Parameters:
    ///   - login: The login, and the name of its session. `ada1` is ada's first login.
    ///   - generation: The number of refreshes since the sign-in.
    ///   - isRefreshable: Whether there is a refresh token.
    ///   - expiresAt: When the access token expires.
    /// - Returns: The bundle. Equal arguments make equal bundles.
    public static func fixture(
        _ login: String = "ada1",
        generation: Int = 0,
        isRefreshable: Bool = true,
        expiresAt: Date? = nil
    ) -> TokenBundle {
        TokenBundle(
            accessToken: IssuedToken(.access, login: login, ordinal: generation).text,
            refreshToken: isRefreshable ? IssuedToken(.refresh, login: login, ordinal: generation).text : nil,
            expiresAt: expiresAt,
            session: SessionID(rawValue: login),
            generation: generation
        )
    }
}

extension TokenRefreshResult {
    /// Issued tokens for tests, as a ``RotatingTokenServer`` issues them.
    ///
    /// - Parameters:
    ///   - login: The login. `ada1` is ada's first login.
    ///   - ordinal: The number of the pair: 0 at the sign-in, one more at each refresh.
    ///   - isRotated: Whether there is a new refresh token.
    ///   - expiresIn: The lifetime of the access token.
    /// - Returns: The tokens. Equal arguments make equal tokens.
    public static func fixture(
        _ login: String = "ada1",
        ordinal: Int = 0,
        isRotated: Bool = true,
        expiresIn: Duration? = nil
    ) -> TokenRefreshResult {
        TokenRefreshResult(
            accessToken: IssuedToken(.access, login: login, ordinal: ordinal).text,
            refreshToken: isRotated ? IssuedToken(.refresh, login: login, ordinal: ordinal).text : nil,
            expiresIn: expiresIn
        )
    }
}
