// Reads what a server issues. An invalid optional member beside good tokens counts as absent, and costs no session.
extension KeyedDecodingContainer {
    /// Reads a text that is not empty.
    package func decodeTextIfPresent(forKey key: Key) -> String? {
        let text = try? decodeIfPresent(String.self, forKey: key)
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reads an access token. It is empty where it cannot be read and there is a refresh token.
    ///
    /// - Throws: `DecodingError` when it cannot be read, or is empty, and there is no refresh token.
    package func decodeAccessToken(forKey key: Key, beside refreshToken: String?) throws -> String {
        if let accessToken = decodeTextIfPresent(forKey: key) { return accessToken }
        guard refreshToken == nil else { return "" }
        _ = try decode(String.self, forKey: key)
        throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "the access token is empty")
    }

    /// Reads a lifetime in seconds: a number, or a text with a number as some servers write it.
    package func decodeLifetimeIfPresent(forKey key: Key) -> Duration? {
        let number = try? decodeIfPresent(Double.self, forKey: key)
        guard let seconds = number ?? decodeTextIfPresent(forKey: key).flatMap({ Double($0) }), seconds > 0,
            seconds < 1e9
        else { return nil }
        return .seconds(seconds)
    }

    /// Reads an instant of expiry, to be placed by ``TokenDates``.
    package func decodeExpiryIfPresent(forKey key: Key) -> IssuedExpiry? {
        if let number = try? decodeIfPresent(Double.self, forKey: key) { return IssuedExpiry(number) }
        return decodeTextIfPresent(forKey: key).map { IssuedExpiry($0) }
    }
}
