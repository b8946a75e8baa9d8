public import AsyncHTTPClient
public import AuthInterface
public import Foundation
public import NIOCore
import NIOHTTP1

/// For a server that keeps its `HTTPClient`, and takes the engine alone: `TokenRefresh`, a store, and a refresh call.
///
/// Copy all of it. Each request asks the engine for its token; a token that the server refuses is replaced, and the
/// request is sent once more. The engine makes one refresh for all of them.
///
/// ```swift
/// let engine = TokenRefreshCoordinator(store: store, handler: PartnerRefresh())
/// let client = BearerClient(httpClient, engine, for: URL(string: "https://api.example.com/v1")!)
/// let response = try await client.execute(HTTPClientRequest(url: "https://api.example.com/v1/notes"))
/// ```
public struct BearerClient: Sendable {
    private let client: HTTPClient
    private let provider: any TokenProvider
    private let origin: String?

    /// - Parameters:
    ///   - client: Your client. It follows redirects without `Authorization` where they leave the origin, so a token in
    ///     a field of another name needs a client whose configuration disallows redirects.
    ///   - provider: The engine.
    ///   - api: A URL of the server that the tokens are for.
    public init(_ client: HTTPClient, _ provider: any TokenProvider, for api: URL) {
        self.client = client
        self.provider = provider
        origin = api.origin
    }

    /// Sends a request with a token. Its body must be bytes, not a stream: it may be sent twice.
    ///
    /// - Throws: `AuthenticationError` when there is no token; ``ForeignServer``; the errors of the client.
    public func execute(
        _ request: HTTPClientRequest, timeout: TimeAmount = .seconds(60)
    ) async throws -> HTTPClientResponse {
        guard let url = URL(string: request.url), let target = url.origin, target == origin else {
            throw ForeignServer()
        }
        let deadline = NIODeadline.now() + timeout
        let token = try await provider.token()
        let response = try await client.execute(request.bearing(token), deadline: deadline)
        guard response.status == .unauthorized else { return response }
        let challenge = response.headers.first(name: "WWW-Authenticate") ?? ""
        let refusal = TokenRefusal(
            of: token, endpoint: "\(request.method) \(url.path)",  // without the query: it may be a secret
            saysTokenIsInvalid: challenge.contains("invalid_token"), status: 401)
        // The body of the refusal, so that its connection can be used again.
        _ = try? await response.body.collect(upTo: 65_536)
        return try await client.execute(request.bearing(provider.replacement(after: refusal)), deadline: deadline)
    }
}

/// A request to a server that the tokens are not for.
public struct ForeignServer: Error {}

extension HTTPClientRequest {
    fileprivate func bearing(_ token: SessionToken) -> HTTPClientRequest {
        var request = self
        request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token.value)")
        return request
    }
}

extension URL {
    /// Scheme, host and port: a token belongs to one of these.
    fileprivate var origin: String? {
        guard let scheme = scheme?.lowercased(), let host = host?.lowercased() else { return nil }
        return "\(scheme)://\(host):\(port ?? (scheme == "https" ? 443 : 80))"
    }
}
