import AuthInterface

/// The header fields in which a token is sent.
public struct TokenPlacement: Sendable, Hashable {
    private enum Kind: Hashable {
        case bearer
        case fields(accessToken: String, refreshToken: String?)
    }

    private let kind: Kind

    /// `Authorization: Bearer …` (RFC 6750 §2.1).
    public static let bearer = TokenPlacement(kind: .bearer)

    /// Fields that the server defines.
    ///
    /// - Parameters:
    ///   - accessToken: The name of the field for the access token.
    ///   - refreshToken: The name of the field for the refresh token, for a server that needs both in every request.
    /// - Returns: The placement.
    public static func fields(
        accessToken: String = "accessToken",
        refreshToken: String? = nil
    ) -> TokenPlacement {
        TokenPlacement(kind: .fields(accessToken: accessToken, refreshToken: refreshToken))
    }

    /// Adds a token to a request.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest` when no header field can carry it.
    func place(_ token: SessionToken, in request: HTTPRequestHead) throws -> HTTPRequestHead {
        do {
            return try placed(token, in: request)
        } catch {
            throw NetworkError(error)
        }
    }

    private func placed(
        _ token: SessionToken,
        in request: HTTPRequestHead
    ) throws(HTTPFieldError) -> HTTPRequestHead {
        var request = request
        switch kind {
        case .bearer:
            try request.set("Authorization", to: "Bearer \(token.value)")
        case .fields(let accessToken, let refreshToken):
            try request.set(accessToken, to: token.value)
            if let refreshToken { try request.set(refreshToken, to: token.refreshToken) }
        }
        return request
    }
}
