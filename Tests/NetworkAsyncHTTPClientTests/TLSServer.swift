#if AsyncHTTPClient
import ConcurrencyPrimitives
import ContractTesting
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NetworkCore
import NetworkExchange
import TestSupport
import Testing

@testable import NetworkAsyncHTTPClient

/// An HTTPS server for HTTP/2 and HTTP/1.1. It responds with the body of the request, and with the number of its bytes
/// and the trailers of the request as trailers; or it sends the frames of a script.
struct TLSServer {
    let identity: TestIdentity
    let url: URL
    private let seen: Seen

    private struct Seen: Sendable {
        let connections = Locked(0)
        /// The names of the fields of each request, in lower case.
        let fields = Locked<[Set<String>]>([])
    }

    /// Runs a server while a closure runs. With a tunnel it is a proxy too, and the server behind its tunnels.
    static func run(
        identity: TestIdentity? = nil, protocols: [String] = ["h2", "http/1.1"], tunnel: Tunnel? = nil,
        _ body: (TLSServer) async throws -> Void
    ) async throws {
        let identity = try identity ?? TestIdentity()
        try await run(identity: identity, protocols: protocols, tunnel: tunnel, body: body) { channel, seen in
            channel.configureCommonHTTPServerPipeline { stream in
                stream.eventLoop.makeCompletedFuture { try stream.pipeline.syncOperations.addHandler(Echo(seen)) }
            }
        }
    }

    /// Runs a server that agrees to HTTP/2. Its connections have one script after the other, and the last one again and
    /// again.
    static func run(
        _ scripts: [FrameScript], _ body: (AsyncHTTPClientTransport, TLSServer) async throws -> Void
    ) async throws {
        let rest = Locked(scripts)
        try await run(identity: TestIdentity(), protocols: ["h2"]) { server in
            try await body(server.transport(), server)
        } configure: { channel, seen in
            channel.eventLoop.makeCompletedFuture {
                let script = rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
                let speaker = FrameSpeaker(script) { seen.fields.withLock { $0.append([]) } }
                try channel.pipeline.syncOperations.addHandler(speaker)
            }
        }
    }

    private static func run(
        identity: TestIdentity, protocols: [String], tunnel: Tunnel? = nil, body: (TLSServer) async throws -> Void,
        configure: @escaping @Sendable (any Channel, Seen) -> EventLoopFuture<Void>
    ) async throws {
        let seen = Seen()
        let tls = try NIOSSLContext(configuration: identity.serverConfiguration(protocols: protocols))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tunnel { try pipeline.addHandler(TunnelHandler(tunnel)) }
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                }
                .flatMap { configure(channel, seen) }
                .map { seen.connections.withLock { $0 += 1 } }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let url = try #require(URL(string: "https://127.0.0.1:\(channel.localAddress?.port ?? 0)/"))
        try await body(TLSServer(identity: identity, url: url, seen: seen))
        try await channel.close()
    }

    /// What a proxy needs to make a tunnel (`CONNECT`, RFC 9110 §9.3.6).
    struct Tunnel: Sendable {
        /// The heads of the requests for a tunnel.
        let requests = Recorder<String>()
        /// Each tunnel is made when it is open.
        var gate = Gate(isOpen: true)
    }

    /// Responds to the request for a tunnel, and passes on what follows it.
    private final class TunnelHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let tunnel: Tunnel
        private var head = ByteBuffer()
        private var isRequested = false

        init(_ tunnel: Tunnel) { self.tunnel = tunnel }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isRequested else { return context.fireChannelRead(data) }
            var bytes = unwrapInboundIn(data)
            head.writeBuffer(&bytes)
            let text = String(buffer: head)
            guard text.hasSuffix("\r\n\r\n") else { return }
            isRequested = true
            tunnel.requests.record(text)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.makeFutureWithTask { [tunnel] in await tunnel.gate.pass() }.whenSuccess {
                let (handler, context) = bound.value
                let response = ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n")
                context.writeAndFlush(handler.wrapOutboundOut(response), promise: nil)
            }
        }
    }

    var requests: Int { fields.count }
    var connections: Int { seen.connections.withLock { $0 } }
    /// The names of the fields of each request, in lower case. Of a request to a script there are none.
    var fields: [Set<String>] { seen.fields.withLock { $0 } }

    func request(
        _ purpose: HTTPTransportRequest.Purpose = .call, body: HTTPBody = .none, idleTimeout: Duration = .seconds(300),
        onEvent: (@Sendable (HTTPTransportEvent) -> Void)? = nil
    ) -> HTTPTransportRequest {
        HTTPTransportRequest(
            head: HTTPRequestHead(method: body.isEmpty ? .get : .put, url: url), body: body,
            idleTimeout: idleTimeout, purpose: purpose, onEvent: onEvent)
    }

    /// A transport that trusts the server's certificate, with time to connect on a machine that is busy.
    func transport(pins: Set<String>? = nil) throws -> AsyncHTTPClientTransport {
        var limits = AsyncHTTPClientTransport.Limits()
        limits.connectTimeout = .seconds(300)
        return AsyncHTTPClientTransport(limits: limits, trust: try identity.trust(pins: pins))
    }

    /// Sends each part of a request back as it arrives.
    private final class Echo: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let seen: Seen
        private var received = 0

        init(_ seen: Seen) { self.seen = seen }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                seen.fields.withLock { $0.append(Set(head.headers.map { $0.name.lowercased() })) }
                received = 0
                let fields: NIOHTTP1.HTTPHeaders = ["trailer": "x-received", "transfer-encoding": "chunked"]
                let head = NIOHTTP1.HTTPResponseHead(version: .http1_1, status: .ok, headers: fields)
                context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
            case .body(let part):
                received += part.readableBytes
                context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part))), promise: nil)
            case .end(let sent):
                var trailers = sent ?? [:]
                trailers.add(name: "x-received", value: "\(received)")
                context.writeAndFlush(wrapOutboundOut(.end(trailers)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// A new key with a certificate that it has signed itself (RFC 5280).
struct TestIdentity {
    private let key = P256.Signing.PrivateKey()
    private let encoded: [UInt8]

    init(address: [UInt8] = [127, 0, 0, 1]) throws {
        let algorithm = DER.sequence(DER.identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
        let common = DER.sequence(DER.identifier([0x55, 0x04, 0x03]), DER.value(0x0C, Array("test".utf8)))
        let name = DER.sequence(DER.value(0x31, common))
        let validity = DER.sequence(
            DER.value(0x17, Array("250101000000Z".utf8)), DER.value(0x17, Array("491231235959Z".utf8)))
        let names = DER.value(0x04, DER.sequence(DER.value(0x87, address)))
        let extensions = DER.sequence(DER.sequence(DER.identifier([0x55, 0x1D, 0x11]), names))
        let body = DER.sequence(
            DER.value(0xA0, DER.value(0x02, [2])), DER.value(0x02, [1]), algorithm, name, validity, name,
            Array(key.publicKey.derRepresentation), DER.value(0xA3, extensions))
        let signature = try key.signature(for: Data(body)).derRepresentation
        encoded = DER.sequence(body, algorithm, DER.value(0x03, [0] + signature))
    }

    /// The pin of the public key.
    var pin: String { Data(SHA256.hash(data: key.publicKey.derRepresentation)).base64EncodedString() }

    var encodedCertificate: Data { Data(encoded) }

    /// The trust in this certificate, and in these keys of a server on this machine.
    func trust(pins: Set<String>? = nil) throws -> ServerTrust {
        let pins = try pins.map { try PublicKeyPins(["127.0.0.1": $0]) } ?? PublicKeyPins()
        return try ServerTrust(authorities: [encodedCertificate], pins: pins)
    }

    func serverConfiguration(protocols: [String]) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: encoded, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)))
        configuration.applicationProtocols = protocols
        return configuration
    }
}

/// The encoding of X.690.
private enum DER {
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        switch count {
        case ..<128: return [tag, UInt8(count)] + content
        case ..<256: return [tag, 0x81, UInt8(count)] + content
        default: return [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + content
        }
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap(\.self)) }

    static func identifier(_ content: [UInt8]) -> [UInt8] { value(0x06, content) }
}
#endif
