import AuthInterface

/// A client whose requests carry tokens; ``NetworkClient/authenticated(by:policy:)`` makes one.
///
/// An endpoint that requires authentication gets a token, if its origin may see tokens. When the server refuses the
/// token, the provider is asked for a better one and the request is sent once more.
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

    /// Sends a request, with a token where the endpoint requires authentication and its origin may see tokens.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - progress: Hears how much of the body is sent.
    /// - Returns: What the answer was read as.
    /// - Throws: ``NetworkError``; where there was no token, its `authentication` says why. `CancellationError` at
    ///   once when the task is cancelled.
    public func send<Response>(
        _ endpoint: Endpoint<Response>,
        progress: ProgressHandler?
    ) async throws -> Response {
        let authentication = AuthenticationInterceptor(provider: provider, policy: policy, origins: origins)
        return try await loop.send(endpoint, authentication: authentication, progress: progress)
    }
}
