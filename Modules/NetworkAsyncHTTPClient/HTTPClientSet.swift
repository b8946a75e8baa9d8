#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NetworkCore
import NetworkExchange

/// The HTTP clients of a transport: one for each use and each host with pins, made when it is first needed.
///
/// An initializer of AsyncHTTPClient for new connections is not told their host. So a host with pins has clients of its
/// own, whose initializer knows the pins.
final class HTTPClientSet: Sendable {
    private struct Key: Hashable {
        let use: ConnectionUse
        let pinnedHost: String?
        let isLenient: Bool
    }

    private struct State {
        var clients: [Key: PooledHTTPClient] = [:]
        var isShutDown = false
    }

    private let make: @Sendable (Key) -> PooledHTTPClient
    private let pins: PublicKeyPins
    private let state = Locked(State())

    init(_ configuration: HTTPClient.Configuration, limits: AsyncHTTPClientTransport.Limits, pins: PublicKeyPins) {
        self.pins = pins
        let base = configuration.applying(limits)
        make = { key in
            var configuration = base
            if !key.use.keepsConnections { configuration.maximumUsesPerConnection = 1 }
            let log = ResponseLog(decompressionRatio: limits.decompressionRatio)
            let pins = pins.keys(of: key.pinnedHost)
            configuration.http1_1ConnectionDebugInitializer = { channel in
                PublicKeyPins.verify(channel, against: pins) {
                    let handler = try log.attach(to: channel)
                    let lenient = key.isLenient ? [LenientResponseHandler()] : []
                    try SurplusByteHandler(handler).attach(to: channel, after: lenient)
                }
            }
            configuration.http2ConnectionDebugInitializer = { channel in
                PublicKeyPins.verify(channel, against: pins) {
                    try HTTP2StatusHandler.attach(to: channel)
                    log.recordConnection()
                }
            }
            configuration.http2StreamChannelDebugInitializer = { channel in
                channel.eventLoop.submit { _ = try log.attach(to: channel, isStream: true) }
            }
            // Not Network.framework's threads: pins need the certificate that NIOSSL has seen.
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
            return PooledHTTPClient(client, log: log, proxy: configuration.proxy.map { "\($0.host):\($0.port)" })
        }
    }

    init(sharing client: HTTPClient) {
        let shared = PooledHTTPClient(client, log: nil)
        pins = PublicKeyPins()
        make = { _ in shared }
    }

    /// The client for requests to an origin; `nil` after ``shutdown()``.
    func client(for origin: Origin, use: ConnectionUse) -> PooledHTTPClient? {
        let pinnedHost = pins.keys(of: origin.host) == nil ? nil : origin.host
        // What comes from elsewhere in clear is read strictly.
        let isLenient = use.isForTokens && (!origin.isCleartext || origin.isLoopback)
        let key = Key(use: use, pinnedHost: pinnedHost, isLenient: isLenient)
        return state.withLock { state in
            guard !state.isShutDown else { return nil }
            if let client = state.clients[key] { return client }
            let client = make(key)
            state.clients[key] = client
            return client
        }
    }

    func shutdown() async throws {
        let clients = state.withLock { state in
            defer { state = State(isShutDown: true) }
            return Array(state.clients.values)
        }
        for client in clients { try await client.shutdown() }
    }
}

/// A client that shuts down when its last user releases it, unless it is the application's.
final class PooledHTTPClient: Sendable {
    let client: HTTPClient
    /// What its connections have seen. `nil`: the client is the application's.
    let log: ResponseLog?
    /// The host and port of its proxy, where it is known.
    let proxy: String?
    private let freeEventLoops = Locked<[any EventLoop]>([])
    private static let mostFreeEventLoops = 64

    init(_ client: HTTPClient, log: ResponseLog?, proxy: String? = nil) {
        self.client = client
        self.log = log
        self.proxy = proxy
    }

    deinit {
        // One that has been shut down stays so.
        if log != nil { client.shutdown { _ in } }
    }

    func shutdown() async throws { if log != nil { try await client.shutdown() } }

    /// An event loop for a request: that of the connection which was freed last, as the pool takes that one too. It
    /// chooses the connection later, and where the two differ, each part of a response wakes a second thread: one
    /// request at a time, of 1 KB, makes 15 % fewer requests a second (`make bench ONLY=pipeline`).
    func nextEventLoop() -> any EventLoop {
        freeEventLoops.withLock { $0.popLast() } ?? client.eventLoopGroup.any()
    }

    /// A connection is free.
    func freed(_ eventLoop: any EventLoop) {
        freeEventLoops.withLock { if $0.count < Self.mostFreeEventLoops { $0.append(eventLoop) } }
    }

    /// Whether its pool can hold a connection that has closed. A connection that could not be made is not one.
    var mayHaveClosedConnection: Bool { log?.hadConnection ?? true }
}

extension PublicKeyPins {
    /// Compares the key of a new connection with the pins of its host, then calls a closure, or closes the connection.
    ///
    /// It is called on the connection's event loop, and its result must be there when it returns: AsyncHTTPClient ends
    /// the process when a server sends more settings, or that it goes away, before the connection is known to the pool.
    static func verify(
        _ channel: any Channel, against pins: Set<Data>?, then use: () throws -> Void
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            do {
                if let pins { try verify(channel, against: pins) }
                try use()
            } catch {
                channel.close(promise: nil)
                throw error
            }
        }
    }

    private static func verify(_ channel: any Channel, against pins: Set<Data>) throws {
        let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate()
        guard let key = try certificate?.extractPublicKey().toSPKIBytes(),
            pins.contains(Data(SHA256.hash(data: key)))
        else {
            throw HTTPTransportError(.tlsFailed, reason: "the public key of the host is not one of its pins")
        }
    }
}

extension HTTPClient.Configuration {
    /// Trusts authorities in place of the system's, where there are any.
    mutating func trust(_ authorities: [Data]) {
        guard !authorities.isEmpty else { return }
        var tls = tlsConfiguration ?? .makeClientConfiguration()
        // One that NIOSSL cannot read is an authority of no server.
        let roots = authorities.compactMap { try? NIOSSLCertificate(bytes: Array($0), format: .der) }
        tls.trustRoots = .certificates(roots)
        tlsConfiguration = tls
    }

    /// The configuration with what the seam of transports requires.
    fileprivate func applying(_ limits: AsyncHTTPClientTransport.Limits) -> HTTPClient.Configuration {
        var copy = self
        copy.redirectConfiguration = .disallow
        // The handler on each connection adds it where a server compresses.
        copy.decompression = .disabled
        copy.timeout = Timeout(connect: TimeAmount(limits.connectTimeout))
        copy.connectionPool.idleTimeout = TimeAmount(limits.connectionIdleTime)
        // The lanes of the transport hold requests back, with the limits of the origin.
        copy.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.mostRequests
        // A retry policy belongs to the client.
        copy.connectionPool.retryConnectionEstablishment = false
        return copy
    }
}

extension TimeAmount {
    /// A year at most: NIO ends the process for a number of nanoseconds that is too large.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = min(duration, .seconds(365 * 24 * 60 * 60)).components
        self = .seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
    }
}
#endif
