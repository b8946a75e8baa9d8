public import ConcurrencyPrimitives
import Foundation

/// Performs exchanges with URLSession, in the same way on every platform.
///
/// It follows no redirect and keeps no cookie, credential or cached response. It counts timeouts itself, because URLSession
/// on Linux counts whole seconds only.
///
/// **Cold connections.** On platforms other than Apple's, URLSession uses libcurl. When the server closes a re-used
/// connection without a response, a request with a body keeps a core busy until the timeout and its head is sent a second
/// time; a request without a body is silently sent twice. So there a request that has a body, or must not happen twice,
/// has a session of its own, whose connection is new and used once. `Connection: close` would cost less, but some servers
/// ignore it. A new session costs a few threads and files, so at most ``coldConnectionLimit`` of them exist at a time.
/// 1,000 such requests take 0.7 s on loopback and two cores.
///
/// **Queue.** Requests wait in this transport and not inside URLSession, where waiting for a connection counts as idle
/// time: a burst to a slow server would time out unsent. The idle timeout counts from the end of the wait.
///
/// **Memory.** URLSession on Linux has no back-pressure: a response that is read more slowly than it arrives is buffered.
public final class URLSessionTransport: HTTPTransport {
    /// The most cold connections at a time.
    public static let coldConnectionLimit = 32

    /// The default of ``connectionsPerHost``.
    public static let defaultConnectionsPerHost = 6

    /// The most requests at a time to an `https` origin, where one HTTP/2 connection carries many.
    public static let multiplexedRequestsPerOrigin = 64

    /// The most warm connections to one host at a time, and so the most requests at a time to an `http` origin.
    public let connectionsPerHost: Int

    private let clock: any TimeSource
    private let configure: @Sendable (URLSessionConfiguration) -> Void
    private let warm: URLSession
    private let router: URLSessionRouter
    private let coldGate = ConnectionGate(limit: coldConnectionLimit)
    private let warmGates = Locked<[Origin: ConnectionGate]>([:])

    #if canImport(FoundationNetworking)
    private static let needsColdConnections = true
    #else
    private static let needsColdConnections = false
    #endif

    /// Creates a transport with connections of its own.
    ///
    /// - Parameters:
    ///   - connectionsPerHost: The most warm connections to one host at a time. At least one.
    ///   - clock: The clock for the idle timeout.
    ///   - configure: Changes the configuration of each session before it is used: a proxy, a minimal TLS version.
    ///     The transport then sets caches, cookies, credentials, connections and timeouts itself.
    public init(
        connectionsPerHost: Int = defaultConnectionsPerHost,
        clock: any TimeSource = SystemTimeSource(),
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
    ) {
        let connectionsPerHost = max(1, connectionsPerHost)
        self.connectionsPerHost = connectionsPerHost
        self.clock = clock
        self.configure = { configuration in
            configure(configuration)
            configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        }
        router = URLSessionRouter()
        warm = Self.session(self.configure, delegate: router)
    }

    deinit {
        // A session retains its delegate until it is invalidated. Its tasks end first.
        warm.finishTasksAndInvalidate()
    }

    /// Sends one request and returns when the head of the response has arrived.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response.
    /// - Throws: ``HTTPTransportError``: `timedOut` after the idle timeout, `connectionFailed`, `tlsFailed` (Apple
    ///   platforms only; elsewhere `transportFailed`), `encodingFailed` when the stream of a body cannot be created.
    ///   `CancellationError` at once when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        guard Self.needsColdConnections, !request.isIdempotent || !request.body.isEmpty else {
            let gate = warmGate(for: request.head)
            try await gate.enter()
            return try await perform(request, in: warm, router: router) { gate.leave() }
        }
        try await coldGate.enter()
        let router = URLSessionRouter()
        let session = Self.session(configure, delegate: router)
        defer { session.finishTasksAndInvalidate() }
        return try await perform(request, in: session, router: router) { [coldGate] in coldGate.leave() }
    }

    private func warmGate(for request: URLRequest) -> ConnectionGate {
        guard let origin = request.url.flatMap(Origin.init) else { return ConnectionGate(limit: 1) }
        return warmGates.withLock { gates in
            if let gate = gates[origin] { return gate }
            let limit = origin.isCleartext ? connectionsPerHost : Self.multiplexedRequestsPerOrigin
            let gate = ConnectionGate(limit: limit)
            gates[origin] = gate
            return gate
        }
    }

    // `onEnd` is called once, when the exchange has ended and its connection is no longer needed.
    private func perform(
        _ request: HTTPTransportRequest,
        in session: URLSession,
        router: URLSessionRouter,
        onEnd: @escaping @Sendable () -> Void
    ) async throws -> HTTPTransportResponse {
        let exchange = URLSessionExchange(request, clock: clock, onEnd: onEnd)
        let task: URLSessionTask
        do {
            task = try Self.task(for: request, in: session)
        } catch {
            onEnd()
            throw error
        }
        router.add(exchange, for: task)
        let head = try await exchange.start(task)
        let reader = URLSessionBodyReader(exchange)
        return HTTPTransportResponse(head: head, body: HTTPResponseBody { try await reader.next() })
    }

    private static func session(
        _ configure: (URLSessionConfiguration) -> Void,
        delegate: URLSessionRouter
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private static func task(for request: HTTPTransportRequest, in session: URLSession) throws -> URLSessionTask {
        var head = request.head
        // The idle timeout of the exchange ends first. This one applies if that fails.
        head.timeoutInterval = (request.timeout / .seconds(1) * 2).rounded(.up) + 60
        head.httpShouldHandleCookies = false
        switch request.body {
        case .none:
            return session.dataTask(with: head)
        case .data(let data):
            return session.uploadTask(with: head, from: data)
        case .file(let url):
            return session.uploadTask(with: head, fromFile: url)
        case .stream(_, let make):
            do {
                // No Content-Length with a stream: Linux would send two lengths. The body is sent in chunks.
                head.setValue(nil, forHTTPHeaderField: "Content-Length")
                head.httpBodyStream = try make()
            } catch let error as NetworkError {
                throw error
            } catch {
                throw HTTPTransportError(.encodingFailed, reason: "the stream of the body cannot be created")
            }
            return session.dataTask(with: head)
        }
    }
}
