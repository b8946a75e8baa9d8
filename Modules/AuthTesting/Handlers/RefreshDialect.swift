public import AuthInterface
public import Foundation

/// How an authorization server reads a refresh call and writes its JSON responses, for the server of
/// ``TokenRefreshHandlerContract/check(_:timeLimit:makeHandler:)``.
///
/// ```swift
/// extension RefreshDialect {
///     static let partner = RefreshDialect(
///         refreshToken: { body in (try? JSONDecoder().decode([String: String].self, from: body))?["refresh"] },
///         tokens: { ["access": $0.accessToken, "refresh": $0.refreshToken] },
///         rejection: { _ in ["code": "refresh_token_dead"] },
///         rejectionStatus: 400
///     )
/// }
/// ```
public struct RefreshDialect: Sendable {
    let refreshToken: @Sendable (Data) -> String?
    let tokens: @Sendable (TokenRefreshResult) -> any Encodable
    let rejection: @Sendable (String) -> any Encodable
    let rejectionStatus: Int
    let idempotencyKeyField: String

    /// Creates a dialect.
    ///
    /// - Parameters:
    ///   - refreshToken: Reads the refresh token from the body of a call; `nil` if it is not there.
    ///   - tokens: Makes the response to a refresh. It leaves out a refresh token that is `nil`, or writes `null`.
    ///   - rejection: Makes the response that rejects a refresh token. The text quotes the call, as careless servers
    ///     do.
    ///   - rejectionStatus: The status of that response.
    ///   - idempotencyKeyField: The header field that carries the idempotency key.
    public init(
        refreshToken: @escaping @Sendable (_ body: Data) -> String?,
        tokens: @escaping @Sendable (TokenRefreshResult) -> any Encodable,
        rejection: @escaping @Sendable (_ text: String) -> any Encodable, rejectionStatus: Int,
        idempotencyKeyField: String = "Idempotency-Key"
    ) {
        self.refreshToken = refreshToken
        self.tokens = tokens
        self.rejection = rejection
        self.rejectionStatus = rejectionStatus
        self.idempotencyKeyField = idempotencyKeyField
    }

    /// A JSON API with envelopes: `{"refreshToken": …}` brings `{"success": true, "data": {"accessToken": …}}`, and a
    /// rejection is a 401 with the code `REFRESH_TOKEN_INVALID`.
    public static let rest = RefreshDialect(
        refreshToken: { (try? JSONDecoder().decode(RESTCall.self, from: $0))?.refreshToken },
        tokens: { tokens in
            let fields = ["accessToken": tokens.accessToken, "refreshToken": tokens.refreshToken]
            return RESTResponse(success: true, data: fields.compactMapValues(\.self))
        },
        rejection: { RESTResponse(success: false, code: "REFRESH_TOKEN_INVALID", message: $0) },
        rejectionStatus: 401)

    /// A token endpoint of OAuth 2.0 (RFC 6749 §5 and §6). A rejection is a 400 with the error `invalid_grant`.
    public static let oauth2 = RefreshDialect(
        refreshToken: { body in
            let form = formFields(in: body)
            return form["grant_type"] == "refresh_token" ? form["refresh_token"] : nil
        },
        tokens: { tokens in
            ["access_token": tokens.accessToken, "token_type": "Bearer", "refresh_token": tokens.refreshToken]
                .compactMapValues(\.self)
        },
        rejection: { ["error": "invalid_grant", "error_description": $0] },
        rejectionStatus: 400)

    private static func formFields(in body: Data) -> [String: String] {
        let text = String(decoding: body, as: UTF8.self).replacingOccurrences(of: "+", with: " ")
        let pairs = text.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        return pairs.reduce(into: [:]) { fields, pair in
            let parts = pair.map { String($0).removingPercentEncoding ?? "" }
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
    }
}

private struct RESTCall: Decodable { let refreshToken: String }

private struct RESTResponse: Encodable {
    let success: Bool
    var code: String?
    var message: String?
    var data: [String: String]?
}
