import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

// Discovery (RFC 8414), and the sign-ins in a browser (RFC 6749 §4.1, RFC 7636) and with a device code (RFC 8628).
//
// This is a server for development: its page asks for a name, and for no password.
extension OAuth2Routes {
    var authorizationRoutes: [Route] {
        let metadata: Route.Handler = { _, exchange in try .json(Metadata(issuer: issuer(exchange))) }
        return [
            Route(.get, "/.well-known/oauth-authorization-server" + RouteTable.basePath, handler: metadata),
            route(.get, "/oauth2/authorize") { request, _ in
                _ = try authorization(try OAuth2Form(request.uri.query ?? ""))
                return page("Sign in")
            },
            route(.post, "/oauth2/authorize") { try await authorize($0, $1) },
            Route(.get, "/oauth2/device") { _, _ in page("Sign in on a device", isDevice: true) },
            route(.post, "/oauth2/device") { request, _ in try await decideDevice(request) },
        ]
    }

    /// RFC 8414 §2.
    private struct Metadata: Encodable {
        let issuer: String
        let authorization_endpoint: String
        let token_endpoint: String
        let revocation_endpoint: String
        let device_authorization_endpoint: String
        let response_types_supported = ["code"]
        let grant_types_supported = [
            "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code",
        ]
        let code_challenge_methods_supported = ["S256"]
        let token_endpoint_auth_methods_supported = ["client_secret_basic", "client_secret_post", "none"]
        let authorization_response_iss_parameter_supported = true

        init(issuer: String) {
            self.issuer = issuer
            authorization_endpoint = "\(issuer)/oauth2/authorize"
            token_endpoint = "\(issuer)/oauth2/token"
            revocation_endpoint = "\(issuer)/oauth2/revoke"
            device_authorization_endpoint = "\(issuer)/oauth2/device_authorization"
        }
    }

    private func issuer(_ exchange: Exchange) -> String { exchange.origin + RouteTable.basePath }

    private struct DeviceResponse: Encodable {
        let device_code: String
        let user_code: String
        let verification_uri: String
        let verification_uri_complete: String
        let expires_in: Int
        let interval: Int
    }

    func authorizeDevice(_ exchange: Exchange) async throws -> Response {
        let (deviceCode, userCode) = pending.startDevice()
        let page = "\(issuer(exchange))/oauth2/device"
        let response = DeviceResponse(
            device_code: deviceCode, user_code: userCode, verification_uri: page,
            verification_uri_complete: "\(page)?user_code=\(userCode)",
            expires_in: PendingAuthorizations.deviceLifetime.secondsRoundedUp,
            interval: pending.interval.secondsRoundedUp)
        return try .json(response, headers: [.cacheControl: "no-store"])
    }

    private func decideDevice(_ request: Request) async throws -> Response {
        let form = try await unauthenticatedForm(of: request)
        let decision: PendingAuthorizations.Decision =
            form["decision"] == "deny" ? .denied : .allowed(user: try name(in: form))
        guard pending.decide(form["user_code"] ?? "", decision) else {
            throw OAuth2Error.invalidRequest("The code is unknown or has been used.")
        }
        return page("Done. You can close this window.", isForm: false)
    }

    /// The parameters of an authorization request that has been checked. A request that fails the checks is not
    /// redirected (RFC 6749 §4.1.2.1).
    private func authorization(_ form: OAuth2Form) throws -> (redirectURI: String, challenge: String) {
        guard form["client_id"] == client.id else { throw OAuth2Error.invalidRequest("client_id is unknown.") }
        guard let redirectURI = form["redirect_uri"], let url = URL(string: redirectURI), url.scheme == "http",
            ["127.0.0.1", "[::1]", "::1"].contains(url.host), url.fragment == nil
        else { throw OAuth2Error.invalidRequest("redirect_uri must be an http URL on loopback.") }
        guard form["response_type"] == "code" else { throw OAuth2Error.invalidRequest("response_type must be code.") }
        guard form["code_challenge_method"] == "S256", let challenge = form["code_challenge"], challenge.count == 43
        else { throw OAuth2Error.invalidRequest("PKCE with S256 is required.") }
        return (redirectURI, challenge)
    }

    private func authorize(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let query = try OAuth2Form(request.uri.query ?? "")
        let (redirectURI, challenge) = try authorization(query)
        let form = try await unauthenticatedForm(of: request)
        var items = [URLQueryItem(name: "iss", value: issuer(exchange))]
        if let state = query["state"] { items.append(URLQueryItem(name: "state", value: state)) }
        if form["decision"] == "deny" {
            items.append(URLQueryItem(name: "error", value: "access_denied"))
        } else {
            let code = pending.issueCode(for: try name(in: form), redirectURI: redirectURI, challenge: challenge)
            items.append(URLQueryItem(name: "code", value: code))
        }
        var components = URLComponents(string: redirectURI)
        let own = components?.queryItems ?? []
        components?.queryItems = own + items
        return Response(
            status: .seeOther, headers: [.location: components?.string ?? redirectURI, .cacheControl: "no-store"])
    }

    private func name(in form: OAuth2Form) throws -> String {
        let name = form["name"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        guard (1...limits.nameCharacters).contains(name.unicodeScalars.count) else {
            throw OAuth2Error.invalidRequest("name must have 1 to \(limits.nameCharacters) characters.")
        }
        return name
    }

    /// Exchanges an authorization code. A second use revokes what the first one has issued (RFC 6749 §4.1.2).
    func pairForCode(_ form: OAuth2Form) async throws -> Sessions.TokenPair {
        guard let text = form["code"], let verifier = form["code_verifier"] else {
            throw OAuth2Error.invalidRequest("code or code_verifier is missing.")
        }
        guard let code = pending.takeCode(text) else { throw OAuth2Error.invalidGrant("The code is unknown.") }
        if code.isUsed {
            if let familyID = code.familyID { try await sessions.end(family: familyID) }
            throw OAuth2Error.invalidGrant("The code was used before; its session has ended.")
        }
        guard !pending.isExpired(code), form["redirect_uri"] == code.redirectURI else {
            throw OAuth2Error.invalidGrant("The code has expired, or belongs to another redirect_uri.")
        }
        guard Data(SHA256.hash(data: Data(verifier.utf8))).base64URLEncodedString() == code.challenge else {
            throw OAuth2Error.invalidGrant("The code_verifier is not that of the code.")
        }
        let grant = try await sessions.start(forUserNamed: code.user)
        pending.note(grant.familyID, of: text)
        return try sessions.pair(for: grant)
    }

    func pairForDevice(_ form: OAuth2Form) async throws -> Sessions.TokenPair {
        guard let deviceCode = form["device_code"] else { throw OAuth2Error.invalidRequest("device_code is missing.") }
        let user = try pending.user(ofDevice: deviceCode)
        return try sessions.pair(for: try await sessions.start(forUserNamed: user))
    }

    /// A page without script. It shows nothing of the request.
    private func page(_ title: String, isForm: Bool = true, isDevice: Bool = false) -> Response {
        let code = isDevice ? #"<label>Code <input name="user_code" required></label> "# : ""
        let form = """
            <form method="post">\(code)<label>Name <input name="name"></label> \
            <button name="decision" value="allow">Allow</button> \
            <button name="decision" value="deny">Deny</button></form>
            """
        let page = """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>\(title)</title><h1>\(title)</h1>\
            \(isForm ? form : "")</html>
            """
        return Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
    }
}
