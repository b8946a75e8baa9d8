public import AuthInterface
public import ConcurrencyPrimitives

public import struct Foundation.URL

/// A client without authentication, from which an authenticated one is made.
///
/// ```swift
/// let base = NetworkClient(baseURL: url, transport: AsyncHTTPClientTransport(), interceptors: [RetryPolicy.standard])
/// let network = base.authenticated(by: session)
/// ```
///
/// `AsyncHTTPClientTransport` is for Linux and servers, `URLSessionTransport` for Apple platforms.
///
/// It is a small value: copies share the transport and the state of their interceptors.
public struct NetworkClient: UnauthenticatedNetworkService {
    /// The base URL and the limits.
    public let configuration: NetworkConfiguration

    let transport: any HTTPTransport
    let interceptors: [any RequestInterceptor]
    let observers: [any NetworkObserver]
    let clock: any TimeSource
    let deadlines: DeadlineQueue

    /// Creates a client.
    public init(
        configuration: NetworkConfiguration, transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [], observers: [any NetworkObserver] = [],
        clock: any TimeSource = SystemTimeSource()
    ) {
        var configuration = configuration
        let coded = (configuration.format as? any CodedFormat)?.coded(by: configuration.coding)
        configuration.format = coded ?? configuration.format
        self.configuration = configuration
        self.transport = transport
        self.interceptors = interceptors
        self.observers = observers
        self.clock = clock
        deadlines = DeadlineQueue(clock: clock)
    }

    /// Creates a client with the default limits.
    public init(
        baseURL: URL,
        transport: any HTTPTransport,
        format: any ResponseFormat = .json,
        coding: JSONCoding = .standard,
        interceptors: [any RequestInterceptor] = [],
        observers: [any NetworkObserver] = [],
        clock: any TimeSource = SystemTimeSource()
    ) {
        var configuration = NetworkConfiguration(baseURL: baseURL)
        (configuration.format, configuration.coding) = (format, coding)
        self.init(
            configuration: configuration, transport: transport, interceptors: interceptors, observers: observers,
            clock: clock)
    }

    /// Sends a request without a token, even if the endpoint requires authentication.
    public func send<Response>(_ endpoint: Endpoint<Response>, options: RequestOptions) async throws -> Response {
        try await value(of: endpoint, options, nil)
    }

    /// As ``send(_:options:)``, and returns when the head of an accepted response has arrived.
    public func stream<Response>(
        _ endpoint: Endpoint<Response>, options: RequestOptions
    ) async throws -> HTTPTransportResponse {
        try await stream(of: endpoint, options, nil)
    }

    /// Creates a client with the same configuration whose requests carry tokens.
    ///
    /// - Returns: The client. It is no ``UnauthenticatedNetworkService``, so a refresh handler cannot use it (G20).
    public func authenticated(
        by provider: any TokenProvider, policy: AuthenticationPolicy = AuthenticationPolicy()
    ) -> AuthenticatedNetworkClient {
        var policy = policy
        policy.origins = policy.origins ?? Set([Origin(configuration.baseURL)].compactMap(\.self))
        let rules = CallAuthentication.Rules(provider: provider, policy: policy)
        return AuthenticatedNetworkClient(client: self, rules: rules)
    }
}

/// A client whose requests carry tokens. ``NetworkClient/authenticated(by:policy:)`` creates one.
///
/// A request whose endpoint requires authentication carries a token, if its origin may receive tokens. When the server
/// refuses the token, the client asks the provider for another one and sends the request once more.
public struct AuthenticatedNetworkClient: NetworkService {
    fileprivate let client: NetworkClient
    fileprivate let rules: CallAuthentication.Rules

    /// Sends a request, with a token if the endpoint requires authentication and its origin may receive tokens.
    ///
    /// - Throws: ``NetworkError``, whose `authentication` says why there was no token; `CancellationError` at once when
    ///   the task is cancelled.
    public func send<Response>(_ endpoint: Endpoint<Response>, options: RequestOptions) async throws -> Response {
        try await client.value(of: endpoint, options, rules)
    }

    /// As ``send(_:options:)``, and returns when the head of an accepted response has arrived.
    public func stream<Response>(
        _ endpoint: Endpoint<Response>, options: RequestOptions
    ) async throws -> HTTPTransportResponse {
        try await client.stream(of: endpoint, options, rules)
    }
}
