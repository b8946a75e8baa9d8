import AuthInterface

/// The header fields a token travels in (row N4).
public struct TokenPlacement: Sendable, Hashable {
    private enum Kind: Hashable {
        case bearer
        case fields(accessToken: String, refreshToken: String?)
    }

    private let kind: Kind

    /// `Authorization: Bearer …` (RFC 6750 §2.1).
    public static let bearer = TokenPlacement(kind: .bearer)

    /// Fields of the server's own.
    ///
    /// - Parameters:
    ///   - accessToken: The name of the field for the access token.
    ///   - refreshToken: The name of the field for the refresh token, for a server that wants both in every request.
    /// - Returns: The placement.
    public static func fields(
        accessToken: String = "accessToken",
        refreshToken: String? = nil
    ) -> TokenPlacement {
        TokenPlacement(kind: .fields(accessToken: accessToken, refreshToken: refreshToken))
    }

    /// The names of the fields that hold a token.
    var fieldNames: [String] {
        switch kind {
        case .bearer: ["Authorization"]
        case .fields(let accessToken, let refreshToken): [accessToken] + [refreshToken].compactMap(\.self)
        }
    }

    func place(_ token: SessionToken, in request: URLRequest) -> URLRequest {
        switch kind {
        case .bearer:
            return request.setting("Authorization", to: "Bearer \(token.value)")
        case .fields(let accessToken, let refreshToken):
            let request = request.setting(accessToken, to: token.value)
            guard let refreshToken else { return request }
            return request.setting(refreshToken, to: token.refreshToken)
        }
    }
}
