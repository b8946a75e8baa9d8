#if canImport(CryptoKit) || Crypto
public import AuthInterface
public import Foundation
import NetworkCore

/// The sign-in page of one sign-in.
public struct OAuth2SignInPage: Sendable {
    let endpoint: URL
    let clientID: String
    let state: String

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
        var components = URLComponents(url: endpoint, resolvingAgainstBaseURL: false) ?? URLComponents()
        components.percentEncodedQuery = [components.percentEncodedQuery, parameters.percentEncoded]
            .compactMap(\.self).joined(separator: "&")
        return components.url ?? endpoint
    }

    /// Whether a URL is a response to this page: its `state` is that of the page. A user agent ignores requests that
    /// are not, so that another program cannot end the sign-in.
    public func isResponse(_ response: URL) -> Bool {
        Self.values("state", in: response) == [state]
    }

    /// The error code of a response without a `state`: some servers leave it out where they cannot read the request. It
    /// is no response to a page, as any program can send it. A code of other characters than identifiers have is not
    /// shown.
    static func refusalWithoutState(in response: URL) -> String? {
        guard values("state", in: response).isEmpty, let code = values("error", in: response).first else { return nil }
        let shown = code.asIdentifier(withoutQuoting: [])
        return shown.wholeMatch(of: /[A-Za-z0-9_.-]+/) == nil ? "an error" : shown
    }

    /// The code in a response, after all checks.
    func code(in response: URL, redirectURI: URL, of server: OAuth2Server) throws(OAuth2SignInError) -> String {
        guard isResponse(response), Self.isSame(response, redirectURI) else {
            let hint = Self.refusalWithoutState(in: response).map { ", or has no state: \($0)" } ?? ""
            throw OAuth2SignInError(.mismatch, reason: "the response belongs to another sign-in\(hint)")
        }
        // RFC 9207 §2.4: the issuer prevents that a code is sent to another server than the one that issued it.
        let issuers = Self.values("iss", in: response)
        let isIssuer = issuers.count == 1 && server.isIssuer(issuers[0])
        guard isIssuer || issuers.isEmpty && !server.namesIssuerInResponses else {
            throw OAuth2SignInError(.mismatch, reason: "the response names another issuer, or none")
        }
        if let error = Self.values("error", in: response).first {
            throw OAuth2SignInError(
                error == "access_denied" ? .denied : .refused, reason: "the server did not sign the user in",
                serverCode: error.asIdentifier(withoutQuoting: [state]))
        }
        let codes = Self.values("code", in: response)
        guard codes.count == 1, let code = codes.first, !code.isEmpty else {
            throw OAuth2SignInError(.invalidResponse, reason: "the response has no code, or several")
        }
        return code
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

    private static func values(_ name: String, in url: URL) -> [String] {
        let query = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? ""
        return query.split(separator: "&").compactMap { pair in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.first?.removingPercentEncoding == name else { return nil }
            let value = halves.count > 1 ? halves[1].replacingOccurrences(of: "+", with: " ") : ""
            return value.removingPercentEncoding ?? ""
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
