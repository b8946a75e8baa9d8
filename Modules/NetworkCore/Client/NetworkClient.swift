public import AuthInterface
public import ConcurrencyPrimitives

public import struct Foundation.URL

/// A client without authentication, and the start of one with it.
///
/// ```swift
/// let open = NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: [RetryPolicy.standard])
/// let network = open.authenticated(by: session)
/// ```
///
/// It is a small value: copies share the transport and whatever their interceptors share.
public struct NetworkClient: UnauthenticatedNetworkService {
    let loop: RequestLoop

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - configuration: The server and the limits.
    ///   - transport: Performs the exchanges.
    ///   - interceptors: Change requests and decide on retries, in this order.
    ///   - observers: Hear of every call.
    ///   - clock: The clocks to go by.
    public init(
        configuration: NetworkConfiguration,
        transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [],
        observers: [any NetworkObserver] = [],
        clock: any TimeSource = SystemTimeSource()
    ) {
        loop = RequestLoop(
            configuration: configuration,
            transport: transport,
            interceptors: interceptors,
            observers: observers,
            clock: clock
        )
    }

    /// Creates a client with the default configuration.
    ///
    /// - Parameters:
    ///   - baseURL: Where endpoints are found.
    ///   - transport: Performs the exchanges.
    ///   - interceptors: Change requests and decide on retries, in this order.
    ///   - observers: Hear of every call.
    public init(
        baseURL: URL,
        transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [],
        observers: [any NetworkObserver] = []
    ) {
        self.init(
            configuration: NetworkConfiguration(baseURL: baseURL),
            transport: transport,
            interceptors: interceptors,
            observers: observers
        )
    }

    /// The server and the limits.
    public var configuration: NetworkConfiguration { loop.configuration }

    /// Sends a request without tokens, whatever the endpoint requires.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - progress: Hears how much of the body is sent.
    /// - Returns: What the answer was read as.
    /// - Throws: ``NetworkError``, or `CancellationError` at once when the task is cancelled.
    public func send<Response>(
        _ endpoint: Endpoint<Response>,
        progress: ProgressHandler?
    ) async throws -> Response {
        try await loop.send(endpoint, authentication: nil, progress: progress)
    }

    /// A client that sends the same way, with tokens.
    ///
    /// - Parameters:
    ///   - provider: Where tokens come from.
    ///   - policy: Where they are put, who may see them, and which status says that one has expired.
    /// - Returns: The client. It is no ``UnauthenticatedNetworkService``, so it cannot be given to a refresh handler (G20).
    public func authenticated(
        by provider: any TokenProvider,
        policy: AuthenticationPolicy = AuthenticationPolicy()
    ) -> AuthenticatedNetworkClient {
        AuthenticatedNetworkClient(loop: loop, provider: provider, policy: policy)
    }
}
