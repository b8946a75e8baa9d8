public import ConcurrencyPrimitives
import Foundation
public import NetworkCore
public import NetworkExchange

/// Performs exchanges with URLSession: the transport for Apple platforms. On Linux `AsyncHTTPClientTransport` is the
/// one to use, because nothing can keep FoundationNetworking (Swift 6.3.1) there from what follows.
///
/// | a server sends | what becomes of the process |
/// |---|---|
/// | a chunked response with a trailer field | it ends (`Transfer completed, but there's no response`) |
/// | a head that is cut short | it ends |
/// | bytes behind a response on a kept connection | the next request over it gets them, in most cases |
/// | a head of 12,000 fields (84 kB); of 20,000 fields | no session makes progress for 3 s; for 30 s |
/// | a head of 50,000 fields, a million chunks of one byte | no session makes progress any more |
/// | a `gzip` of 10 MB that is 10 GB when it is decoded | the same, until ``Limits/unreadBytes`` has ended it |
///
/// While no session makes progress, this transport's time limits end its requests, and other tasks run: what waits for
/// Foundation's thread has a thread of its own. Foundation has no option for the largest head.
///
/// Nor does any session make progress once a task was cancelled while Foundation's own `data(for:)` completed in it:
/// the two wait for each other. This transport does not use it; a program on Linux that does can lose all its sessions.
///
/// It follows no redirect and keeps no cookie, credential or cached response. It counts timeouts itself, because
/// URLSession on Linux counts whole seconds only.
///
/// **Sleep.** When a process was stopped, or its device slept, for longer than a time limit, what has arrived meanwhile
/// is read first: the limit counts after ``Limits/wakeGrace`` of running time. URLSession's own timeout is set to
/// 7 days; on Linux it counts the time in which the process is stopped, and ends a request before its bytes are read.
///
/// **Cold connections.** On platforms other than Apple's, URLSession uses libcurl. When the server closes a re-used
/// connection without a response, a request with a body keeps a core busy until the timeout and its head is sent a
/// second time; a request without a body is silently sent twice. So there a request that has a body, or must not happen
/// twice, has a session of its own, whose connection is new and used once. `Connection: close` would cost less, but
/// some servers ignore it. A new session costs a few threads and files, so at most 32 of them exist at a time for calls
/// to one origin. 1,000 such requests take 0.7 s on loopback and two cores.
///
/// **Queue.** Requests wait in this transport and not inside URLSession, where waiting for a connection counts as idle
/// time: a burst to a slow server would time out unsent. The idle timeout counts from the end of the wait.
///
/// **Streams and refreshes** have connections of their own: six open event streams do not hold up a call, and calls do
/// not hold up the refresh that they wait for.
///
/// **Bodies.** On Apple platforms a sequence is sent while it is made. On Linux it is read to its end first, into a
/// temporary file, because all sessions of a process share one thread there, which must not wait for a sequence.
///
/// **Encodings.** URLSession decodes `gzip` before this transport sees a byte. On Linux it takes a compressed body
/// whose last part is missing, and whose length is as announced, for a whole one: only what reads the content can
/// notice. And it refuses `gzip` of more than one member (RFC 1952 §2.2), with code `invalidResponse`.
///
/// **Memory.** URLSession on Linux has no back-pressure: a response that is read more slowly than it arrives is
/// buffered, and fails with code `readTooSlowly` when more than ``Limits/unreadBytes`` wait. What waits can still be
/// read, and a download then requests the rest in parts. FoundationNetworking also keeps some 220 bytes of each request
/// until the process ends, with this transport and without it.
public final class URLSessionTransport: HTTPTransport {
    /// URLSession's own idle timeout, for the case that this transport's cannot end a request: 7 days.
    static let sessionTimeout: Duration = .seconds(7 * 24 * 60 * 60)

    /// The most cold connections to one origin at a time.
    package static let coldConnectionLimit = 32

    /// The most requests at a time to an `https` origin, where one HTTP/2 connection carries many.
    static let multiplexedRequestsPerOrigin = 64

    /// The most refreshes of tokens at a time, to one host.
    static let refreshesPerHost = 16

    private let limits: Limits
    private let deadlines: DeadlineQueue
    private let calls: URLSessionPool
    private let streams: URLSessionPool
    private let refreshes: URLSessionPool

    #if canImport(FoundationNetworking)
    private static let needsColdConnections = true
    #else
    private static let needsColdConnections = false
    #endif

    /// Creates a transport with connections of its own.
    ///
    /// The closure changes the configuration of each session before it is used: a proxy, a minimal TLS version. The
    /// transport then sets caches, cookies, credentials, connections and timeouts itself.
    public convenience init(
        limits: Limits = Limits(), clock: any TimeSource = SystemTimeSource(),
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
    ) {
        self.init(limits, trusting: .system, clock: clock, configure: configure)
    }

    /// Creates a transport that trusts an application's own authorities, or requires public keys of hosts.
    ///
    /// - Throws: `HTTPTransportError` with code `tlsFailed` on Linux, unless `trust` is that of the system:
    ///   `URLSession` there has no way to check a server.
    public convenience init(
        limits: Limits = Limits(), trust: ServerTrust,
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
    ) throws {
        #if canImport(FoundationNetworking)
        guard trust == .system else {
            let reason = "URLSession on Linux takes no authorities and no pins; use AsyncHTTPClientTransport"
            throw HTTPTransportError(.tlsFailed, reason: reason)
        }
        #endif
        self.init(limits, trusting: trust, clock: SystemTimeSource(), configure: configure)
    }

    private init(
        _ limits: Limits, trusting trust: ServerTrust, clock: any TimeSource,
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void
    ) {
        self.limits = limits
        deadlines = DeadlineQueue(clock: clock, grace: limits.wakeGrace)
        func pool(_ warm: Int, cold: Int) -> URLSessionPool {
            URLSessionPool(
                connectionsPerHost: max(1, warm), coldConnections: max(1, cold), trust: trust, configure: configure)
        }
        calls = pool(limits.connectionsPerHost, cold: Self.coldConnectionLimit)
        streams = pool(limits.streamsPerHost, cold: limits.streamsPerHost)
        refreshes = pool(Self.refreshesPerHost, cold: Self.refreshesPerHost)
    }

    /// Sends one request and returns when the head of the response has arrived. URLSession shows no trailers.
    ///
    /// - Throws: `HTTPTransportError`: `timedOut` after the idle timeout or the time to the head, `connectionFailed`,
    ///   `tlsFailed` (Apple platforms only; elsewhere `transportFailed`), `encodingFailed` when the body cannot be
    ///   read, `invalidRequest` when it has trailers, on Linux `cleartextRefused` where the environment names a proxy
    ///   for a request without encryption. `CancellationError` at once when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        guard request.body.trailers == nil else {
            throw HTTPTransportError(.invalidRequest, reason: "URLSession cannot send trailers")
        }
        guard let origin = Origin(request.head.url) else {
            throw HTTPTransportError(.invalidRequest, reason: Origin.problem)
        }
        #if canImport(FoundationNetworking)
        try EnvironmentProxy().refuse(origin)
        #endif
        let startedAt = deadlines.clock.uptime
        let upload = try await URLSessionUpload(request.body, within: request.timeToHead, deadlines)
        let exchange = Exchange(
            request, bodyLength: upload.fileSize, deadlines: deadlines, startedAt: startedAt,
            // More may wait than the limit says, by no byte.
            unreadLimit: limits.unreadBytes == .max ? .max : limits.unreadBytes + 1)
        let pool = pool(for: request.purpose)
        let context = request.context
        let isCold =
            context.needsNewConnection
            || (Self.needsColdConnections && (!context.isIdempotent || !request.body.isEmpty))
        let driver = URLSessionDriver(exchange, upload: upload, unreadLimit: limits.unreadBytes) { driver in
            isCold ? pool.coldTask(for: driver) : pool.warmTask(for: driver, to: origin)
        }
        let lane = isCold ? pool.coldLane(for: origin) : pool.warmLane(for: origin)
        return try await exchange.response(from: driver, through: lane)
    }

    /// Every wait of an exchange has a limit and can be cancelled.
    public var endsInTime: Bool { true }

    private func pool(for purpose: HTTPTransportRequest.Purpose) -> URLSessionPool {
        switch purpose {
        case .call: calls
        case .stream: streams
        case .refresh: refreshes
        }
    }
}

extension URLSessionTransport {
    /// The limits of a transport.
    public struct Limits: Sendable, Hashable {
        /// The most warm connections to one host, and so the most requests at a time to an `http` origin. At least one.
        public var connectionsPerHost = 6

        /// The most streams from one host at a time. They use other connections than calls and refreshes. At least one.
        public var streamsPerHost = 32

        /// How many bytes of a response may wait to be read: 64 MiB.
        public var unreadBytes = 64 * 1_024 * 1_024

        /// How long a process that has slept runs before a time limit counts that has passed meanwhile.
        public var wakeGrace: Duration = .seconds(5)

        /// Creates the standard limits.
        public init() {}
    }
}
