import HTTPTypes
import Hummingbird
import MultipartForms

/// `/oauth2`: the same token families in the form of RFC 6749 and RFC 7009.
struct OAuth2Routes: Sendable {
    let sessions: Sessions
    let client: DevBackend.OAuth2Client
    let limits: DevBackend.Limits
    let pending: PendingAuthorizations

    var routes: [Route] {
        authorizationRoutes + [
            route(.post, "/oauth2/token") { try await token($0, $1) },
            route(.post, "/oauth2/revoke") { request, _ in try await revoke(request) },
            route(.post, "/oauth2/device_authorization") { request, exchange in
                _ = try await form(of: request)
                return try await authorizeDevice(exchange)
            },
        ]
    }

    /// A route whose errors have the form of RFC 6749 §5.2.
    func route(_ method: HTTPRequest.Method, _ path: String, handler: @escaping Route.Handler) -> Route {
        Route(method, path) { request, exchange in
            do {
                return try await handler(request, exchange)
            } catch let error as OAuth2Error {
                return try error.response()
            }
        }
    }

    /// RFC 6749 §5.1.
    private struct TokenResponse: Encodable {
        let access_token: String
        let token_type = "Bearer"
        let expires_in: Int
        let refresh_token: String
    }

    private func token(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let key: String?
        let refreshToken: String
        do {
            key = try request.idempotencyKey(upTo: limits.idempotencyKeyCharacters)
            let form = try await form(of: request)
            guard let type = form["grant_type"] else { throw OAuth2Error.invalidRequest("grant_type is missing.") }
            switch type {
            case "refresh_token": break
            case "authorization_code": return try await response(to: pairForCode(form))
            case "urn:ietf:params:oauth:grant-type:device_code": return try await response(to: pairForDevice(form))
            default: throw OAuth2Error(.badRequest, "unsupported_grant_type", "The grant type is unknown.")
            }
            guard let token = form["refresh_token"] else {
                throw OAuth2Error.invalidRequest("refresh_token is missing.")
            }
            refreshToken = token
        } catch {
            sessions.ledger.count(\.refreshes.rejected)
            throw error
        }
        do {
            return try response(to: try await sessions.refresh(refreshToken, key: key, in: exchange))
        } catch let refusal as APIError {
            throw OAuth2Error.invalidGrant(refusal.message)
        }
    }

    private func response(to pair: Sessions.TokenPair) throws -> Response {
        let response = TokenResponse(
            access_token: pair.accessToken, expires_in: pair.expiresIn, refresh_token: pair.refreshToken)
        return try .json(response, headers: [.cacheControl: "no-store"])
    }

    /// Revokes by refresh or access token; either ends the whole family (RFC 7009 §2.1). A token that is unknown or no
    /// longer valid is no error (§2.2). The hint is ignored, because the two kinds of token differ in form.
    private func revoke(_ request: Request) async throws -> Response {
        let form = try await form(of: request)
        guard let token = form["token"] else { throw OAuth2Error.invalidRequest("token is missing.") }
        if let claims = sessions.accessTokens.claims(of: token) {
            try await sessions.end(family: claims.sid)
        } else {
            try await sessions.end(refreshToken: token)
        }
        return Response(status: .ok, headers: [.cacheControl: "no-store"])
    }

    /// The parameters of a request, once its client has authenticated.
    private func form(of request: Request) async throws -> OAuth2Form {
        let form = try await unauthenticatedForm(of: request)
        try client.authenticate(form, authorization: request.headers[.authorization])
        return form
    }

    func unauthenticatedForm(of request: Request) async throws -> OAuth2Form {
        let type = request.headers[.contentType].flatMap { ParameterizedValue($0) }
        guard type?.value.lowercased() == "application/x-www-form-urlencoded" else {
            throw OAuth2Error.invalidRequest("The body must be application/x-www-form-urlencoded.")
        }
        let body = try await request.bodyData(upTo: limits.bodyBytes, orThrow: .bodyTooLarge(limits.bodyBytes))
        return try OAuth2Form(String(decoding: body, as: UTF8.self))
    }
}

/// An error in the form of RFC 6749 §5.2.
struct OAuth2Error: Error, Sendable {
    private struct Body: Encodable {
        let error: String
        let error_description: String
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
        return try .json(Body(error: error, error_description: description), status: status, headers: headers)
    }
}
