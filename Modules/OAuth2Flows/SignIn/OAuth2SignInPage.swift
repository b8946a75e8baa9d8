#if canImport(CryptoKit) || Crypto
public import AuthInterface
public import Foundation
import NetworkCore

/// The sign-in page of one sign-in.
public struct OAuth2SignInPage: Sendable {
    let endpoint: URL
    let clientID: String
    let issuer: String
    let state: String
    let pkce: PKCE
    let nonce: String?

    /// The thumbprint of the key that the request names. `nil`: the tokens are bound to none.
    let thumbprint: String?

    /// What is asked for, beside the client, the redirect URI and the state.
    let request: QueryItems

    /// Sends an authorization request to the server, which returns its reference (RFC 9126). `nil`: the URL of the page
    /// has the request.
    let push: (@Sendable (QueryItems) async throws -> String)?

    /// The URL to open in a browser, at once and one time: where the server takes the request beforehand (RFC 9126), it
    /// has been sent, and the URL is valid for a short time. A second call sends it again. The URL holds no secret.
    ///
    /// - Throws: ``OAuth2SignInError`` when the server did not take the request; `CancellationError`.
    public func url(redirectingTo redirectURI: URL) async throws -> URL {
        var parameters: QueryItems = [
            "response_type": "code", "redirect_uri": redirectURI.absoluteString, "state": state,
        ]
        parameters.append(contentsOf: request)
        if let push { parameters = ["request_uri": try await push(parameters)] }
        parameters.append("client_id", clientID)
        return endpoint.adding(parameters)
    }

    /// Whether a URL is a response to this page: its `state` is that of the page. A user agent ignores requests that
    /// are not, so that another program cannot end the sign-in.
    public func isResponse(_ response: URL) -> Bool { Self.values("state", in: response) == [state] }

    /// The error code of a response without a `state`: some servers leave it out where they cannot read the request. It
    /// is no response to a page, as any program can send it. A code of other characters than identifiers have is not
    /// shown.
    static func refusalWithoutState(in response: URL) -> String? {
        guard values("state", in: response).isEmpty, let code = values("error", in: response).first else { return nil }
        let shown = code.asIdentifier(withoutQuoting: [])
        return shown.wholeMatch(of: /[A-Za-z0-9_.-]+/) == nil ? "an error" : shown
    }

    /// What the exchange of the code needs of this page.
    func state(_ redirectURI: URL, expiresAt: Date) -> OAuth2SignInState {
        OAuth2SignInState(
            issuer: issuer, redirectURI: redirectURI, state: state, verifier: pkce.verifier, nonce: nonce,
            thumbprint: thumbprint, expiresAt: expiresAt)
    }

    /// Whether a URL is a redirect URI with a query, as a browser writes it: scheme and host in lower case, a path, and
    /// no port that is the default one (RFC 3986 §6.2).
    static func isSame(_ response: URL, _ redirectURI: URL) -> Bool { Place(response) == Place(redirectURI) }

    private struct Place: Equatable {
        let scheme, host: String?
        let port: Int?
        let path: String

        init(_ url: URL) {
            (scheme, host) = (url.scheme?.lowercased(), url.host?.lowercased())
            let standardPort = scheme.flatMap { Origin.defaultPorts[$0] }
            port = url.port ?? standardPort
            path = standardPort != nil && url.path.isEmpty ? "/" : url.path
        }
    }

    /// The values of a parameter of a query.
    static func values(_ name: String, in url: URL) -> [String] {
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedQueryItems ?? []
        return items.filter { $0.name.removingPercentEncoding == name }.map { item in
            item.value?.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
        }
    }
}

/// Shows a sign-in page to the user, and receives the response: a browser with a loopback server
/// (``LoopbackUserAgent``), or the system's sign-in sheet.
public protocol OAuth2UserAgent: Sendable {
    /// Shows a page, and waits for the redirect that is its response. The URL of the page depends on the redirect URI.
    ///
    /// - Throws: ``OAuth2SignInError``; `CancellationError` when the task is cancelled.
    func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL)
}

extension OAuth2SignInPage: RedactedDescription {
    /// The endpoint and the client (G17).
    public var description: String { "OAuth2SignInPage(\(endpoint.host ?? ""), \(clientID))" }
}
#endif
