public import AuthInterface

extension TokenBundle {
    /// A bundle for tests, with tokens of a ``RotatingTokenServer``. `ada1` is ada's first login, and the name of its
    /// session; the generation counts its refreshes. Equal arguments make equal bundles.
    public static func fixture(_ login: String = "ada1", generation: Int = 0) -> TokenBundle {
        let tokens = TokenRefreshResult.fixture(login, ordinal: generation)
        return TokenBundle(
            accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, session: SessionID(rawValue: login),
            generation: generation)
    }
}

extension TokenRefreshResult {
    /// Issued tokens for tests, as a ``RotatingTokenServer`` issues them: those of the sign-in are pair 0, and each
    /// refresh counts one more. Equal arguments make equal tokens.
    public static func fixture(
        _ login: String = "ada1", ordinal: Int = 0, isRotated: Bool = true, expiresIn: Duration? = nil
    ) -> TokenRefreshResult {
        TokenRefreshResult(
            accessToken: IssuedToken(kind: .access, login: login, ordinal: ordinal).text,
            refreshToken: isRotated ? IssuedToken(kind: .refresh, login: login, ordinal: ordinal).text : nil,
            expiresIn: expiresIn)
    }
}
