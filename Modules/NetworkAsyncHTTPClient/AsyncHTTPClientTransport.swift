#if AsyncHTTPClient
public import AsyncHTTPClient
public import ConcurrencyPrimitives
public import NetworkCore
public import NetworkExchange

/// Performs exchanges with AsyncHTTPClient: the transport for servers and for Linux.
///
/// ```swift
/// let transport = AsyncHTTPClientTransport()
/// let client = NetworkClient(baseURL: url, transport: transport)
/// ```
///
/// HTTP/1.1, and HTTP/2 where the server agrees to it in the TLS handshake. A body is sent while it is made, and a
/// response is read while the request is still being sent. Both directions have back-pressure: a sender waits for the
/// connection, and a server waits for the reader. The transport follows no redirect and keeps no cookie. It decodes
/// `gzip` and `deflate`, and fails when such a body is cut short or exceeds ``Limits/decompressionRatio``.
///
/// **Connections.** Requests to one origin wait in this transport until one of ``Limits/connectionsPerOrigin`` is free,
/// and streams until one of ``Limits/streamsPerOrigin`` is. A refresh waits for neither: it has connections of its own,
/// each new and used once, so that no server can close it between two requests. So has a call that carries no token and
/// must not happen twice, as a sign-in. A connection on which bytes arrive that belong to no response is closed.
///
/// **Token calls**, as `asTokenCall()` makes them, send `Connection: close`. Their responses are read with faults that
/// leave no doubt (the article *Transports*), over TLS or loopback; all others strictly, as over HTTP/2 and over an
/// application's own client.
///
/// Whether a refresh may still start is asked in the channel, after connecting and TLS: before the head, and again
/// before the first byte of the body (G28).
///
/// **Time.** Idle timeout and time to the head are those of the request. While a reader does not read, and the sender
/// therefore waits, no idle time counts. One timer serves all requests of a transport. When a process was stopped, or
/// its device slept, for longer than a limit, what has arrived meanwhile is read first: the limit counts after
/// ``Limits/wakeGrace`` of running time.
///
/// **Trailers** of a response arrive in its completion, and those of a request (`HTTPBody.trailers`) are sent after its
/// body, over HTTP/1.1 and HTTP/2. AsyncHTTPClient does not show responses with a status of 1xx.
///
/// **Proxy.** `configure` sets one, with its credentials. Every connection goes through a tunnel (`CONNECT`, RFC 9110
/// §9.3.6), and a request without encryption, to loopback too, is refused with code `cleartextRefused` (G16). So no
/// proxy sees a request or a response, and no server sees the credentials. A proxy that requires other credentials
/// (407) fails the call with code `proxyRefused`, which no retry policy repeats; one that refuses in another way,
/// closes or does not respond with `connectionFailed` or `timedOut`. AsyncHTTPClient does not show the status of such
/// a refusal. The proxy of an application's own client is not known.
///
/// **Tracing.** AsyncHTTPClient would write whole URLs, with the secrets in their queries, to the spans of the
/// application's tracer. So its tracing is off, and an observer of the client traces calls. `configure` can turn it on.
///
/// **End.** A transport that is released closes its connections when its last exchange has ended. ``shutdown()`` does
/// it at once. Before a program exits: `await session.settle()`, then `shutdown()`: a refresh may need it.
public final class AsyncHTTPClientTransport: HTTPTransport {
    private let clients: HTTPClientSet
    private let limits: Limits
    private let deadlines: DeadlineQueue
    private let lanes = Locked(LaneTable<LaneKey, ExchangeLane>())

    private struct LaneKey: Hashable {
        let origin: Origin
        let use: ConnectionUse
    }

    /// Creates a transport with connections of its own, on the threads that all clients of the process share.
    ///
    /// - Parameters:
    ///   - limits: The limits of connections and of bodies.
    ///   - trust: The authorities that are trusted, in place of those that `configure` sets, and the public keys that
    ///     hosts must have. A host without pins needs a valid certificate only.
    ///   - clock: The clock of the time limits.
    ///   - configure: Changes the configuration of the HTTP client before it is used: TLS, a proxy, the versions of
    ///     HTTP. Redirects, timeouts, connections and decompression are set by the transport afterwards.
    public convenience init(
        limits: Limits = Limits(), trust: ServerTrust = .system, clock: any TimeSource = SystemTimeSource(),
        configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) {
        var configuration = HTTPClient.Configuration()
        configuration.tracing.tracer = nil
        configure(&configuration)
        configuration.trust(trust.authorities)
        self.init(HTTPClientSet(configuration, limits: limits, pins: trust.pins), limits: limits, clock: clock)
    }

    /// Creates a transport over an application's own client, whose connections, TLS options and timeouts then apply. Of
    /// the limits, that of requests to one origin does.
    ///
    /// Such a transport sees no trailers, sends none and pins no keys, and all requests share the connections of the
    /// client. Of a redirect it delivers the head only, whatever the client is configured to do. Whether a refresh may
    /// start is asked before the client gets it, and not when it writes (G28). The application shuts the client down,
    /// after the last use of the transport.
    ///
    /// Set `httpVersion` to `.http1Only` in its configuration: over HTTP/2, a server that has sent its whole response
    /// before it has the whole request can end the process (AsyncHTTPClient 1.37), but not with a transport's own.
    public convenience init(
        sharing client: HTTPClient, limits: Limits = Limits(), clock: any TimeSource = SystemTimeSource()
    ) {
        self.init(HTTPClientSet(sharing: client), limits: limits, clock: clock)
    }

    private init(_ clients: HTTPClientSet, limits: Limits, clock: any TimeSource) {
        self.clients = clients
        self.limits = limits
        deadlines = DeadlineQueue(clock: clock, grace: limits.wakeGrace)
    }

    /// Sends one request and returns when the head of the response has arrived. Its completion has the trailers.
    ///
    /// - Throws: `HTTPTransportError`: `timedOut` after the idle timeout or the time to the head, `connectionFailed`,
    ///   `tlsFailed` for a certificate or a public key that is not accepted, `invalidResponse` for what is not HTTP,
    ///   `encodingFailed` when the body cannot be read, `cleartextRefused` for a request without encryption through a
    ///   proxy. `CancellationError` at once when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let use = request.connectionUse
        guard let origin = Origin(request.head.url) else {
            throw HTTPTransportError(.invalidRequest, reason: Origin.problem)
        }
        guard let client = clients.client(for: origin, use: use) else {
            throw HTTPTransportError(.transportFailed, reason: "the transport was shut down")
        }
        if origin.isCleartext, let proxy = client.proxy {
            let reason = "the request would go to the proxy \(proxy) in clear; use https, or no proxy"
            throw HTTPTransportError(.cleartextRefused, reason: reason)
        }
        let exchange = Exchange(request, deadlines: deadlines, unreadLimit: max(1, limits.unreadBytes))
        let driver = AsyncHTTPClientDriver(exchange, over: client)
        return try await exchange.response(from: driver, through: lane(to: origin, use: use))
    }

    /// Every wait of an exchange has a limit and can be cancelled.
    public var endsInTime: Bool { true }

    /// Closes all connections. Exchanges under way fail, and so does every later one.
    ///
    /// A client that the application shares stays as it is.
    ///
    /// - Throws: What closing the connections throws.
    public func shutdown() async throws { try await clients.shutdown() }

    private func lane(to origin: Origin, use: ConnectionUse) -> ExchangeLane {
        lanes.withLock { lanes in
            lanes.lane(for: LaneKey(origin: origin, use: use)) {
                ExchangeLane(limit: limits.requests(to: origin, use: use))
            }
        }
    }
}

extension AsyncHTTPClientTransport {
    /// The limits of a transport.
    public struct Limits: Sendable, Hashable {
        /// The most calls at a time to an `http` origin, each on a connection of its own.
        public var connectionsPerOrigin = 8

        /// The most streams at a time from an origin. Calls do not wait for them.
        public var streamsPerOrigin = 64

        /// The most calls at a time to an `https` origin, where one HTTP/2 connection carries many.
        public var multiplexedRequestsPerOrigin = 64

        /// How long a connection without a request is kept.
        public var connectionIdleTime: Duration = .seconds(60)

        /// The longest time to connect, TLS included.
        public var connectTimeout: Duration = .seconds(30)

        /// How many bytes of a response may wait to be read before the server has to wait. Some more may arrive by
        /// then. With less than a connection reads at once, each piece of a large body costs a switch between threads.
        public var unreadBytes = 256 * 1_024

        /// How many times its size a compressed body may have once decoded. A larger one fails with `responseTooLarge`.
        public var decompressionRatio = 200

        /// How long a process that was stopped, or whose device slept, runs before a time limit counts that has passed
        /// meanwhile. What has arrived in its sockets is read in this time.
        public var wakeGrace: Duration = .seconds(5)

        /// Creates the standard limits.
        public init() {}

        /// The most requests at a time.
        func requests(to origin: Origin, use: ConnectionUse) -> Int {
            switch use {
            case .streams: max(1, streamsPerOrigin)
            case .refreshes: Self.refreshesPerOrigin
            default: max(1, origin.isCleartext ? connectionsPerOrigin : multiplexedRequestsPerOrigin)
            }
        }

        /// The most requests at a time to any origin.
        var mostRequests: Int {
            max(1, connectionsPerOrigin, multiplexedRequestsPerOrigin, streamsPerOrigin, Self.refreshesPerOrigin)
        }

        private static let refreshesPerOrigin = 64
    }
}

/// Which connections a request uses. None of them waits for another.
enum ConnectionUse: Hashable {
    /// Most calls. Connections are kept.
    case calls
    /// Calls without a token that must not happen twice, and after a 421. Each connection is used once.
    case singleCalls
    /// Responses that are read as they arrive. Connections are kept.
    case streams
    /// Refreshes, and other calls for tokens. Each connection is used once.
    case refreshes, tokenCalls

    var keepsConnections: Bool { self == .calls || self == .streams }
    var isForTokens: Bool { self == .refreshes || self == .tokenCalls }
}

extension HTTPTransportRequest {
    var connectionUse: ConnectionUse {
        switch purpose {
        case .call where context.needsNewConnection: .singleCalls
        case .call where context.isIdempotent || context.session != nil: .calls
        // As `asTokenCall()` makes it.
        case .call: head.headers.first(of: "Accept-Encoding") == "identity" ? .tokenCalls : .singleCalls
        case .stream: .streams
        case .refresh: .refreshes
        }
    }
}
#endif
