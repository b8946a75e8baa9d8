import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore

// Discovery (RFC 8414), and the sign-ins in a browser (RFC 6749 §4.1, RFC 7636) and with a device code (RFC 8628).
//
// This is a server for development: its page asks for a name, and for no password.
extension OAuth2Routes {
    var authorizationRoutes: [Route] {
        let metadata: Route.Handler = { _, context in try .json(Metadata(issuer: issuer(context))) }
        return [
            Route(.get, "/.well-known/oauth-authorization-server" + RouteTable.basePath, handler: metadata),
            Route(.get, "/oauth2/authorize") { request, context in
                try await encodingErrors {
                    _ = try authorization(try OAuth2Form(request.uri.query ?? ""))
                    return try page("Sign in")
                }
            },
            Route(.post, "/oauth2/authorize") { request, context in
                try await encodingErrors { try await authorize(request, context) }
            },
            Route(.get, "/oauth2/device") { _, _ in try page("Sign in on a device", isDevice: true) },
            Route(.post, "/oauth2/device") { request, context in
                try await encodingErrors { try await decideDevice(request, context) }
            },
        ]
    }

    /// RFC 8414 §2.
    private struct Metadata: Encodable {
        let issuer: String

        private enum CodingKeys: String, CodingKey {
            case issuer
            case authorization_endpoint, token_endpoint, revocation_endpoint, device_authorization_endpoint
            case response_types_supported, grant_types_supported, code_challenge_methods_supported
            case token_endpoint_auth_methods_supported, authorization_response_iss_parameter_supported
        }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: CodingKeys.self)
            try object.encode(issuer, forKey: .issuer)
            try object.encode("\(issuer)/oauth2/authorize", forKey: .authorization_endpoint)
            try object.encode("\(issuer)/oauth2/token", forKey: .token_endpoint)
            try object.encode("\(issuer)/oauth2/revoke", forKey: .revocation_endpoint)
            try object.encode("\(issuer)/oauth2/device_authorization", forKey: .device_authorization_endpoint)
            try object.encode(["code"], forKey: .response_types_supported)
            try object.encode(
                ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
                forKey: .grant_types_supported)
            try object.encode(["S256"], forKey: .code_challenge_methods_supported)
            try object.encode(
                ["client_secret_basic", "client_secret_post", "none"], forKey: .token_endpoint_auth_methods_supported)
            try object.encode(true, forKey: .authorization_response_iss_parameter_supported)
        }
    }

    private func issuer(_ context: BackendContext) -> String { context.exchange.origin + RouteTable.basePath }

    private struct DeviceResponse: Encodable {
        let device_code: String
        let user_code: String
        let verification_uri: String
        let verification_uri_complete: String
        let expires_in: Int
        let interval: Int
    }

    func authorizeDevice(_ context: BackendContext) async throws -> Response {
        let (deviceCode, userCode) = try pending.startDevice()
        let page = "\(issuer(context))/oauth2/device"
        let response = DeviceResponse(
            device_code: deviceCode, user_code: userCode, verification_uri: page,
            verification_uri_complete: "\(page)?user_code=\(userCode)",
            expires_in: pending.deviceLifetime.secondsRoundedUp, interval: pending.interval.secondsRoundedUp)
        return try .json(response, headers: [.cacheControl: "no-store"])
    }

    private func decideDevice(_ request: Request, _ context: BackendContext) async throws -> Response {
        let form = try await unauthenticatedForm(of: request, in: context.exchange)
        let decision: PendingAuthorizations.Decision =
            form["decision"] == "deny" ? .denied : .allowed(user: try name(in: form))
        guard pending.decide(form["user_code"] ?? "", decision) else {
            throw OAuth2Error.invalidRequest("The code is unknown or has been used.")
        }
        return try page("Done. You can close this window.", isForm: false)
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

    private func authorize(_ request: Request, _ context: BackendContext) async throws -> Response {
        let query = try OAuth2Form(request.uri.query ?? "")
        let (redirectURI, challenge) = try authorization(query)
        let form = try await unauthenticatedForm(of: request, in: context.exchange)
        var items = [URLQueryItem(name: "iss", value: issuer(context))]
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
    private func page(_ title: String, isForm: Bool = true, isDevice: Bool = false) throws -> Response {
        let page = try MustacheTemplate(string: Self.page)
            .render(["title": title, "isForm": isForm, "isDevice": isDevice])
        return Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
    }

    private static let page = #"""
        <!doctype html><html lang="en"><meta charset="utf-8"><title>{{title}}</title><h1>{{title}}</h1>\#
        {{#isForm}}<form method="post">\#
        {{#isDevice}}<label>Code <input name="user_code" required></label> {{/isDevice}}\#
        <label>Name <input name="name"></label> \#
        <button name="decision" value="allow">Allow</button> \#
        <button name="decision" value="deny">Deny</button></form>{{/isForm}}</html>
        """#
}
