import HTTPTypes
import Hummingbird

/// An error in the form of RFC 6749 §5.2.
struct OAuth2Error: Error, Sendable {
    private struct Body: Encodable {
        let error: String
        let description: String

        private enum CodingKeys: String, CodingKey {
            case error
            case description = "error_description"
        }
    }

    let status: HTTPResponse.Status
    let error: String
    let description: String
    var headers = HTTPFields()

    init(_ status: HTTPResponse.Status, _ error: String, _ description: String) {
        self.status = status
        self.error = error
        self.description = description
    }

    /// The nearest error code of RFC 6749 §5.2, or of §4.1.2.1 for a failure of the server.
    init(_ error: APIError) {
        let code =
            switch error.status.code {
            case 503, 429: "temporarily_unavailable"
            case 500...: "server_error"
            case 401: "invalid_client"
            default: "invalid_request"
            }
        self.init(error.status, error.oauth2Code ?? code, error.message)
        headers = error.headers
    }

    static func invalidRequest(_ description: String) -> OAuth2Error {
        OAuth2Error(.badRequest, "invalid_request", description)
    }

    static func invalidGrant(_ description: String) -> OAuth2Error {
        OAuth2Error(.badRequest, "invalid_grant", description)
    }

    /// The client's authentication failed. Only a client that used the header is challenged: RFC 6749 §5.2 demands it
    /// there and nowhere else, and a challenge makes some clients wait for a password indefinitely.
    static func invalidClient(usedHeader: Bool) -> OAuth2Error {
        let description = "The client is unknown or its authentication failed."
        var error = OAuth2Error(usedHeader ? .unauthorized : .badRequest, "invalid_client", description)
        if usedHeader { error.headers[.wwwAuthenticate] = #"Basic realm="latchkey", charset="UTF-8""# }
        return error
    }

    func response() throws -> Response {
        var headers = headers
        headers[.cacheControl] = "no-store"
        return try .json(Body(error: error, description: description), status: status, headers: headers)
    }
}
