public import AuthInterface

public import struct Foundation.Date

extension TokenBundle {
    /// A bundle for tests, with tokens as a ``RotatingTokenServer`` issues them.
    ///
    /// - Parameters:
    ///   - login: Whose it is; its session has the same name. `ada1` is ada's first login.
    ///   - generation: How many refreshes lie between the sign-in and the bundle.
    ///   - isRefreshable: Whether there is a refresh token.
    ///   - expiresAt: When the access token expires.
    /// - Returns: The bundle. The same arguments make the same bundle.
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
    /// What a server issues, for tests, with tokens as a ``RotatingTokenServer`` issues them.
    ///
    /// - Parameters:
    ///   - login: Whose tokens they are. `ada1` is ada's first login.
    ///   - ordinal: The number of the pair: 0 at the login, one more at each refresh.
    ///   - isRotated: Whether there is a new refresh token.
    ///   - expiresIn: How long the access token is good.
    /// - Returns: The tokens. The same arguments make the same tokens.
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
