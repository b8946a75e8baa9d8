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
    ///   - options: The options of this call.
    /// - Returns: The value of the response.
    /// - Throws: ``NetworkError``, whose `authentication` says why there was no token; `CancellationError` at once when
    ///   the task is cancelled.
    public func send<Response>(
        _ endpoint: Endpoint<Response>,
        options: RequestOptions
    ) async throws -> Response {
        try await loop.send(endpoint, options: options, authentication: authentication)
    }

    /// Sends a request, with a token if the endpoint requires authentication and its origin may receive tokens, and
    /// returns when the head of an accepted response has arrived.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - options: The options of this call.
    /// - Returns: The head, and the body for one reader.
    /// - Throws: ``NetworkError`` for every failure, and `CancellationError` at once when the task is cancelled.
    public func stream<Response>(
        _ endpoint: Endpoint<Response>,
        options: RequestOptions
    ) async throws -> HTTPTransportResponse {
        try await loop.stream(endpoint, options: options, authentication: authentication)
    }

    private var authentication: CallAuthentication {
        CallAuthentication(provider: provider, policy: policy, origins: origins)
    }
}
