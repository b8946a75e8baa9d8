public import AuthInterface
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// For a team that keeps its `URLSession`, and takes the engine alone: `TokenRefresh`, a store, and a refresh call.
///
/// Copy all of it. Each request asks the engine for its token; a token that the server refuses is replaced, and the
/// request is sent once more. The engine makes one refresh for all of them.
///
/// ```swift
/// let engine = TokenRefreshCoordinator(store: store, handler: PartnerRefresh())
/// let session = BearerSession(engine, for: URL(string: "https://api.example.com/v1")!)
/// let (body, response) = try await session.data(for: request)
/// ```
public final class BearerSession: Sendable {
    private let provider: any TokenProvider
    private let origin: String?
    private let session: URLSession

    /// - Parameters:
    ///   - provider: The engine.
    ///   - api: A URL of the server that the tokens are for.
    ///   - configuration: Yours.
    public init(_ provider: any TokenProvider, for api: URL, configuration: URLSessionConfiguration = .default) {
        self.provider = provider
        origin = api.origin
        // URLSession sends a token along a redirect, also to another server: a delegate must refuse that.
        session = URLSession(configuration: configuration, delegate: RedirectRule(), delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request with a token. Its body must be data, not a stream: it may be sent twice.
    ///
    /// - Throws: `AuthenticationError` when there is no token; `URLError`, with `.badURL` for another server.
    public func data(for request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        guard let url = request.url, let target = url.origin, target == origin else { throw URLError(.badURL) }
        let token = try await provider.token()
        let (body, response) = try await send(request, token)
        guard response.statusCode == 401 else { return (body, response) }
        let challenge = response.value(forHTTPHeaderField: "WWW-Authenticate") ?? ""
        let refusal = TokenRefusal(
            of: token, endpoint: "\(request.httpMethod ?? "GET") \(url.path)",  // without the query: it may be a secret
            saysTokenIsInvalid: challenge.contains("invalid_token"), status: 401)
        return try await send(request, provider.replacement(after: refusal))
    }

    private func send(_ request: URLRequest, _ token: SessionToken) async throws -> (Data, HTTPURLResponse) {
        var request = request
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        let (body, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (body, response)
    }
}

extension URL {
    /// Scheme, host and port: a token belongs to one of these.
    fileprivate var origin: String? {
        guard let scheme = scheme?.lowercased(), let host = host?.lowercased() else { return nil }
        return "\(scheme)://\(host):\(port ?? (scheme == "https" ? 443 : 80))"
    }
}

/// Follows a redirect within the origin. Another one is the response.
private final class RedirectRule: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(task.originalRequest?.url?.origin == request.url?.origin ? request : nil)
    }
}
