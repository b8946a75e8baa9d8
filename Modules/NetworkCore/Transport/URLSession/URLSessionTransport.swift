import AuthInterface
public import ConcurrencyPrimitives
import Foundation

/// Performs exchanges with URLSession, in the same way on every platform.
///
/// It follows no redirect and keeps no cookie, credential or cached answer. Its time-outs are its own: on Linux
/// URLSession counts whole seconds only.
///
/// **Cold connections.** Where URLSession is libcurl (everywhere but on Apple platforms), a request with a body on a
/// re-used connection that the server then closes without answering keeps a core busy until the time-out, and its
/// head is sent a second time; one without a body is sent twice without a word. So a request that has a body, or must
/// not happen twice, goes through a session of its own there, whose connection is new and used once. `Connection:
/// close` would be less work, but helps only with servers that heed it. A new session costs a few threads and files,
/// so only ``coldConnectionLimit`` of them exist at a time. 1,000 such requests take 0.7 s on loopback and two cores.
///
/// **Turns.** Requests wait here and not inside URLSession, where waiting for a connection counts as silence: a burst
/// at a slow server would time out without having been sent. Time-outs count from a request's turn.
///
/// **Memory.** URLSession on Linux cannot be slowed down: an answer that is read more slowly than it arrives piles up.
public final class URLSessionTransport: HTTPTransport {
    /// The most cold connections at a time.
    public static let coldConnectionLimit = 32

    /// The most warm connections to one host at a time, unless told otherwise.
    public static let defaultConnectionsPerHost = 6

    /// The most requests under way to an `https` origin, where HTTP/2 carries many on one connection.
    public static let multiplexedRequestsPerOrigin = 64

    /// The most warm connections to one host at a time, and so the most requests under way to an `http` origin.
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
    ///   - clock: The clocks that time-outs go by.
    ///   - configure: Changes the configuration of each session before it is used: a proxy, a minimal TLS version.
    ///     Caches, cookies, credentials, connections and time-outs are set afterwards and stay ours.
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
        // A session keeps its delegate until told that there will be no more tasks; those under way end first.
        warm.finishTasksAndInvalidate()
    }

    /// Sends one request and returns as soon as the head of its answer is there.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer.
    /// - Throws: ``HTTPTransportError``: `timedOut` after a silence of the request's time-out, `connectionFailed`,
    ///   `tlsFailed` (Apple platforms only; elsewhere `transportFailed`), `encodingFailed` when the stream of a body
    ///   cannot be made. `CancellationError` at once when the task is cancelled.
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

    private func warmGate(for request: HTTPRequestHead) -> ConnectionGate {
        guard let origin = Origin(request.url) else { return ConnectionGate(limit: 1) }
        return warmGates.withLock { gates in
            if let gate = gates[origin] { return gate }
            let limit = origin.isCleartext ? connectionsPerHost : Self.multiplexedRequestsPerOrigin
            let gate = ConnectionGate(limit: limit)
            gates[origin] = gate
            return gate
        }
    }

    // `onEnd` is called once, when the connection is no longer needed, whatever became of the exchange.
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
        var head = URLRequest(request.head)
        // Ours ends first; this one is for the case that ours cannot.
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
                // No Content-Length beside a stream: on Linux there would be two lengths. It is sent in chunks.
                head.httpBodyStream = try make()
            } catch let error as NetworkError {
                throw error
            } catch {
                throw HTTPTransportError(.encodingFailed, reason: "the body's stream cannot be made")
            }
            return session.dataTask(with: head)
        }
    }
}
