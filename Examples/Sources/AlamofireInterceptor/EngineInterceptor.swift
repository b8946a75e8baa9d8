public import Alamofire
public import AuthInterface
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// For a team that keeps Alamofire, and takes the engine alone: `TokenRefresh`, a store, and a refresh call.
///
/// Copy all of it. Each request to the server asks the engine for its token; a token that the server refuses is
/// replaced, and the request is sent once more. The engine makes one refresh for all of them.
///
/// ```swift
/// let engine = TokenRefreshCoordinator(store: store, handler: PartnerRefresh())
/// let interceptor = EngineInterceptor(engine, for: api)
/// let session = Session(interceptor: interceptor, redirectHandler: interceptor)
/// let notes = try await session.request(url).validate().serializingDecodable([Note].self).value
/// ```
///
/// `validate()` makes a 401 an error: only about errors is an interceptor asked. The refresh call itself takes another
/// session, without this interceptor: it would wait for itself.
///
/// Typechecked against a stub of Alamofire 5.11 (`Tests/AppleStubs/Alamofire`), and not run with it.
public final class EngineInterceptor: RequestInterceptor, RedirectHandler {
    private let provider: any TokenProvider
    private let origin: String?
    private let tokens = LatestTokens()

    /// - Parameters:
    ///   - provider: The engine.
    ///   - api: A URL of the server that the tokens are for. Requests to others go without one.
    public init(_ provider: any TokenProvider, for api: URL) {
        self.provider = provider
        origin = api.origin
    }

    /// Adds the token to a request to the server.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        guard let target = urlRequest.url?.origin, target == origin else { return completion(.success(urlRequest)) }
        Task { [provider, tokens] in
            do {
                let token = try await provider.token()
                await tokens.add(token)
                var request = urlRequest
                request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
                completion(.success(request))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Replaces the token that the server has refused, once for a request.
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.retryCount == 0, let sent = request.request, let response = request.response,
            response.statusCode == 401
        else { return completion(.doNotRetry) }
        let challenge = response.value(forHTTPHeaderField: "WWW-Authenticate") ?? ""
        Task { [provider, tokens] in
            guard let token = await tokens.token(in: sent.value(forHTTPHeaderField: "Authorization")) else {
                return completion(.doNotRetry)
            }
            let refusal = TokenRefusal(
                of: token,
                // Without the query: it may be a secret.
                endpoint: "\(sent.httpMethod ?? "GET") \(sent.url?.path ?? "")",
                saysTokenIsInvalid: challenge.contains("invalid_token"), status: 401)
            do {
                _ = try await provider.replacement(after: refusal)
                completion(.retry)
            } catch {
                completion(.doNotRetryWithError(error))
            }
        }
    }

    /// Follows a redirect within the origin. Another one is the response: URLSession would take the token along.
    public func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        completion(task.originalRequest?.url?.origin == request.url?.origin ? request : nil)
    }
}

/// The latest tokens: the field of a refused request says which one it carried.
private actor LatestTokens {
    private var tokens: [SessionToken] = []

    func add(_ token: SessionToken) {
        if !tokens.contains(where: { $0.value == token.value }) { tokens = tokens.suffix(7) + [token] }
    }

    func token(in field: String?) -> SessionToken? { tokens.last { "Bearer \($0.value)" == field } }
}

extension URL {
    /// Scheme, host and port: a token belongs to one of these.
    fileprivate var origin: String? {
        guard let scheme = scheme?.lowercased(), let host = host?.lowercased() else { return nil }
        return "\(scheme)://\(host):\(port ?? (scheme == "https" ? 443 : 80))"
    }
}
