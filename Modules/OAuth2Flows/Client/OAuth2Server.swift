import ConcurrencyPrimitives
public import Foundation
public import NetworkCore

/// The endpoints and abilities of an OAuth 2.0 server (RFC 8414 §2).
///
/// ```swift
/// let server = try await OAuth2Server.discover(issuer: issuer, network: client)
/// ```
public struct OAuth2Server: Sendable, Hashable {
    /// The identifier of the server: a URL without query and fragment.
    public var issuer: String

    /// Other texts by which the server names itself, such as Google's `accounts.google.com`. They count as ``issuer``
    /// in responses and id tokens, so that a user is known by one name (G31).
    public var otherIssuers: Set<String> = []

    /// Whose users may sign in where ``issuer`` has `{tenantid}` in it. `nil`: it is compared letter for letter.
    public var tenants: OAuth2Tenants?

    /// The authorization endpoint (RFC 6749 §3.1).
    public var authorizationEndpoint: URL?

    /// The token endpoint (RFC 6749 §3.2).
    public var tokenEndpoint: URL

    /// The device authorization endpoint (RFC 8628 §3.1).
    public var deviceAuthorizationEndpoint: URL?

    /// The revocation endpoint (RFC 7009 §2).
    public var revocationEndpoint: URL?

    /// The pushed authorization request endpoint (RFC 9126 §5).
    public var pushedAuthorizationRequestEndpoint: URL?

    /// Whether the server takes authorization requests only at ``pushedAuthorizationRequestEndpoint`` (RFC 9126 §5).
    public var requiresPushedAuthorizationRequests = false

    /// Where the server publishes the keys by which it signs id tokens (`jwks_uri`, RFC 8414 §2).
    public var jwksURI: URL?

    /// Where a browser ends the user's session with the server (`end_session_endpoint`, OpenID Connect RP-Initiated
    /// Logout 1.0).
    public var endSessionEndpoint: URL?

    /// The methods of PKCE; `nil` if not known.
    public var codeChallengeMethods: Set<String>?

    /// Whether each authorization response names the issuer (RFC 9207).
    public var namesIssuerInResponses: Bool

    /// The server's clock, as its description has shown it.
    var clock = ShownClock()

    /// Creates a description of a server without discovery. Each parameter is the property of its name; the other
    /// properties are set after it.
    public init(
        issuer: String,
        tokenEndpoint: URL,
        authorizationEndpoint: URL? = nil,
        deviceAuthorizationEndpoint: URL? = nil,
        revocationEndpoint: URL? = nil,
        codeChallengeMethods: Set<String>? = nil,
        namesIssuerInResponses: Bool = false
    ) {
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
        self.authorizationEndpoint = authorizationEndpoint
        self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.codeChallengeMethods = codeChallengeMethods
        self.namesIssuerInResponses = namesIssuerInResponses
    }
}

extension OAuth2Server {
    /// Reads the description of a server: of RFC 8414, and where that cannot be used, of OpenID Connect Discovery. It
    /// must name exactly the text of the issuer (§3.3), or with `tenants` that text with `{tenantid}` in it. Issuer and
    /// token endpoint have scheme `https` unless they are loopback; another endpoint that has not is absent. Redirects
    /// are followed within the issuer's origin only: a description is the issuer's because its origin sent it (§6.2),
    /// whatever issuer its text names.
    ///
    /// - Throws: ``OAuth2SignInError``, whose reason names the URLs that were read: with code `unavailable` where one
    ///   of them may have a description later, `mismatch` for that of another issuer, `unsupported` for an invalid
    ///   issuer or description. `CancellationError`.
    public static func discover(
        issuer: URL, tenants: OAuth2Tenants? = nil, network: any UnauthenticatedNetworkService
    ) async throws -> OAuth2Server {
        guard issuer.isSafeEndpoint, issuer.query == nil, issuer.fragment == nil else {
            throw OAuth2SignInError(
                .unsupported, reason: "the issuer must be an https URL, without user, query and fragment")
        }
        var failures: [OAuth2SignInError] = []
        var reasons: [String] = []
        for location in locations(of: issuer) {
            do {
                let call = Endpoint<JSONValue>.get(.url(location)).withoutAuthentication()
                    .redirects(.followWithinOrigin).format(.json)
                let (description, date) = try await network.send(call.map { ($0, $1.serverDate) })
                var server = try OAuth2Server(description, of: issuer, tenants)
                server.clock.shown = date.map { SignedTime($0, by: SystemTimeSource()) }
                return server
            } catch let error as NetworkError {
                failures.append(OAuth2SignInError(error, without: []))
            } catch let error as OAuth2SignInError {
                failures.append(error)
            }
            reasons.append("\(location.absoluteString): \(failures.last?.reason ?? "")")
        }
        let telling = [.unavailable, .mismatch].lazy.compactMap { code in failures.first { $0.code == code } }.first
        throw OAuth2SignInError(
            telling?.code ?? .unsupported,
            reason: "no description of the server can be used: \(reasons.joined(separator: "; "))",
            cause: telling ?? failures.first)
    }

    /// The locations of a description, in order: RFC 8414 §3.1 puts the well-known path before the issuer's path, and
    /// OpenID Connect Discovery §4 after it.
    static func locations(of issuer: URL) -> [URL] {
        guard var components = URLComponents(url: issuer, resolvingAgainstBaseURL: false) else { return [] }
        var path = components.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        return ["/.well-known/oauth-authorization-server" + path, path + "/.well-known/openid-configuration"]
            .compactMap { location in
                components.percentEncodedPath = location
                return components.url
            }
    }

    private init(_ description: JSONValue, of expected: URL, _ tenants: OAuth2Tenants?) throws(OAuth2SignInError) {
        guard let members = description.members, case .text(let issuer)? = members["issuer"] else {
            throw OAuth2SignInError(.unsupported, reason: "it names no issuer")
        }
        let expected = expected.absoluteString
        let isTemplate = tenants != nil && OAuth2Tenants.tenant(in: expected, at: issuer) != nil
        guard issuer == expected || isTemplate else {
            let hint = OAuth2Tenants.isTemplate(issuer) && tenants == nil ? ": name the tenants of discover" : ""
            throw OAuth2SignInError(.mismatch, reason: "the description is that of another issuer\(hint)")
        }
        func endpoint(_ name: String) -> URL? {
            members[name]?.text.flatMap { URL(string: $0) }.flatMap {
                $0.isSafeEndpoint && $0.fragment == nil ? $0 : nil
            }
        }
        func isTrue(_ name: String) -> Bool { members[name] == .flag(true) || members[name] == .text("true") }
        guard let token = endpoint("token_endpoint") else {
            throw OAuth2SignInError(.unsupported, reason: "token_endpoint must be an https URL")
        }
        self.init(
            issuer: issuer, tokenEndpoint: token, authorizationEndpoint: endpoint("authorization_endpoint"),
            deviceAuthorizationEndpoint: endpoint("device_authorization_endpoint"),
            revocationEndpoint: endpoint("revocation_endpoint"),
            namesIssuerInResponses: isTrue("authorization_response_iss_parameter_supported"))
        self.tenants = tenants
        if case .list(let methods)? = members["code_challenge_methods_supported"] {
            codeChallengeMethods = Set(methods.compactMap(\.text))
        }
        pushedAuthorizationRequestEndpoint = endpoint("pushed_authorization_request_endpoint")
        requiresPushedAuthorizationRequests = isTrue("require_pushed_authorization_requests")
        jwksURI = endpoint("jwks_uri")
        endSessionEndpoint = endpoint("end_session_endpoint")
    }

    /// The URL to open in a browser after `signOut()`, so that the server forgets the user as well (OpenID Connect
    /// RP-Initiated Logout 1.0 §2). The redirect URI is registered for it, and gets the state back. An id token as a
    /// hint names the session; browsers keep URLs. `nil`: the server has no such endpoint.
    public func logoutURL(
        for client: OAuth2Client, redirectingTo redirectURI: URL? = nil, state: String? = nil, idToken: String? = nil
    ) -> URL? {
        endSessionEndpoint?.adding([
            "client_id": client.id, "post_logout_redirect_uri": redirectURI?.absoluteString, "state": state,
            "id_token_hint": idToken,
        ])
    }
}

extension URL {
    func adding(_ items: QueryItems) -> URL {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: false) ?? URLComponents()
        components.percentEncodedQuery = [components.percentEncodedQuery, items.percentEncoded]
            .compactMap(\.self).joined(separator: "&")
        return components.url ?? self
    }

    /// Whether secrets may be sent to the URL: its scheme is `https` unless its host is loopback, and it has no user.
    var isSafeEndpoint: Bool {
        guard let origin = Origin(self), user == nil, password == nil else { return false }
        return !origin.isCleartext || origin.isLoopback
    }
}
