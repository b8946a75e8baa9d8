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

    /// The methods of PKCE; `nil` if not known.
    public var codeChallengeMethods: Set<String>?

    /// Whether each authorization response names the issuer (RFC 9207).
    public var namesIssuerInResponses: Bool

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
    /// Reads the description of a server: of RFC 8414, and if there is none, of OpenID Connect Discovery. It must name
    /// exactly the text of the issuer (§3.3). Issuer and endpoints have scheme `https` unless they are loopback.
    /// Redirects are followed within the issuer's origin only: a description is the issuer's because its origin sent it
    /// (§6.2), whatever issuer its text names.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `unsupported` for an invalid issuer or description, `mismatch` for
    ///   the description of another issuer; `unavailable`. `CancellationError`.
    public static func discover(issuer: URL, network: any UnauthenticatedNetworkService) async throws -> OAuth2Server {
        guard issuer.isSafeEndpoint, issuer.query == nil, issuer.fragment == nil else {
            throw OAuth2SignInError(
                .unsupported, reason: "the issuer must be an https URL, without user, query and fragment")
        }
        var failure: OAuth2SignInError?
        for location in locations(of: issuer) {
            do {
                let call = Endpoint<Metadata>.get(.url(location)).withoutAuthentication()
                    .redirects(.followWithinOrigin).format(.json)
                return try await network.send(call).server(of: issuer)
            } catch let error as NetworkError {
                let described = OAuth2SignInError(error, without: [])
                // A server may redirect what it does not know.
                let isAbsent = [.refused, .invalidResponse, .redirected].contains(described.code)
                guard isAbsent else { throw described }
                failure = failure ?? described
            }
        }
        let reason = failure?.reason ?? "no location"
        throw OAuth2SignInError(.unsupported, reason: "the server has no description: \(reason)", cause: failure)
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

    private struct Metadata: Decodable, Sendable {
        let issuer: String
        let authorizationEndpoint: String?
        let tokenEndpoint: String?
        let deviceAuthorizationEndpoint: String?
        let revocationEndpoint: String?
        let pushedAuthorizationRequestEndpoint: String?
        let requiresPushedAuthorizationRequests: Bool?
        let jwksURI: String?
        let codeChallengeMethods: Set<String>?
        let namesIssuerInResponses: Bool?

        private enum CodingKeys: String, CodingKey {
            case issuer
            case authorizationEndpoint = "authorization_endpoint"
            case tokenEndpoint = "token_endpoint"
            case deviceAuthorizationEndpoint = "device_authorization_endpoint"
            case revocationEndpoint = "revocation_endpoint"
            case pushedAuthorizationRequestEndpoint = "pushed_authorization_request_endpoint"
            case requiresPushedAuthorizationRequests = "require_pushed_authorization_requests"
            case jwksURI = "jwks_uri"
            case codeChallengeMethods = "code_challenge_methods_supported"
            case namesIssuerInResponses = "authorization_response_iss_parameter_supported"
        }

        func server(of expected: URL) throws(OAuth2SignInError) -> OAuth2Server {
            guard issuer == expected.absoluteString else {
                throw OAuth2SignInError(.mismatch, reason: "the description is that of another issuer")
            }
            guard let token = try endpoint(tokenEndpoint, "token_endpoint") else {
                throw OAuth2SignInError(.unsupported, reason: "the description has no token_endpoint")
            }
            var server = OAuth2Server(
                issuer: issuer,
                tokenEndpoint: token,
                authorizationEndpoint: try endpoint(authorizationEndpoint, "authorization_endpoint"),
                deviceAuthorizationEndpoint: try endpoint(deviceAuthorizationEndpoint, "device_authorization_endpoint"),
                revocationEndpoint: try endpoint(revocationEndpoint, "revocation_endpoint"),
                codeChallengeMethods: codeChallengeMethods,
                namesIssuerInResponses: namesIssuerInResponses ?? false
            )
            server.pushedAuthorizationRequestEndpoint = try endpoint(
                pushedAuthorizationRequestEndpoint, "pushed_authorization_request_endpoint")
            server.requiresPushedAuthorizationRequests = requiresPushedAuthorizationRequests ?? false
            server.jwksURI = try endpoint(jwksURI, "jwks_uri")
            return server
        }

        private func endpoint(_ text: String?, _ name: String) throws(OAuth2SignInError) -> URL? {
            guard let text else { return nil }
            guard let url = URL(string: text), url.isSafeEndpoint, url.fragment == nil else {
                throw OAuth2SignInError(.unsupported, reason: "\(name) must be an https URL")
            }
            return url
        }
    }
}

extension URL {
    /// Whether secrets may be sent to the URL: its scheme is `https` unless its host is loopback, and it has no user.
    var isSafeEndpoint: Bool {
        guard let origin = Origin(self), user == nil, password == nil else { return false }
        return !origin.isCleartext || origin.isLoopback
    }
}
