import AuthInterface

/// A client whose requests carry tokens. ``NetworkClient/authenticated(by:policy:)`` creates one.
///
/// A request whose endpoint requires authentication carries a token, if its origin may receive tokens. When the server
/// refuses the token, the client asks the provider for another one and sends the request once more.
public struct AuthenticatedNetworkClient: NetworkService {
    private let loop: RequestLoop
    private let provider: any TokenProvider
    private let policy: AuthenticationPolicy
    private let origins: OriginPolicy

    init(loop: RequestLoop, provider: any TokenProvider, policy: AuthenticationPolicy) {
        self.loop = loop
        self.provider = provider
        self.policy = policy
        let configuration = loop.configuration
        origins = OriginPolicy(
            allowed: policy.origins ?? Set([Origin(configuration.baseURL)].compactMap(\.self)),
            cleartextExceptions: configuration.cleartextExceptions
        )
    }

    /// Sends a request, with a token if the endpoint requires authentication and its origin may receive tokens.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - progress: Called as the body is sent.
    /// - Returns: The value of the response.
    /// - Throws: ``NetworkError``, whose `authentication` says why there was no token; `CancellationError` at once when
    ///   the task is cancelled.
    public func send<Response>(
        _ endpoint: Endpoint<Response>,
        progress: ProgressHandler?
    ) async throws -> Response {
        let authentication = AuthenticationInterceptor(provider: provider, policy: policy, origins: origins)
        return try await loop.send(endpoint, authentication: authentication, progress: progress)
    }
}
