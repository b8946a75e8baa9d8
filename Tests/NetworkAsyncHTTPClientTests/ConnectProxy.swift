#if AsyncHTTPClient
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NIOCore
import NIOPosix

/// A proxy on a loopback port that makes tunnels (`CONNECT`, RFC 9110 §9.3.6), or refuses to.
struct ConnectProxy {
    /// What the proxy does with a request for a tunnel.
    enum Behavior: Sendable {
        /// Connects to the host and port of the request.
        case connects
        /// The same, once a gate is open.
        case connectsAfter(Gate)
        /// Sends these bytes, and keeps the connection open.
        case responds(String)
        case closes
        case hangs
    }

    let port: Int
    private let seen: Locked<[String]>

    /// The heads of the requests for a tunnel.
    var requests: [String] { seen.withLock { $0 } }

    static func run(_ behavior: Behavior, _ body: (ConnectProxy) async throws -> Void) async throws {
        let seen = Locked<[String]>([])
        try await ChannelServer.run { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(TunnelHandler(behavior, seen))
            }
        } body: { port in
            try await body(ConnectProxy(port: port, seen: seen))
        }
    }

    /// Reads the request for a tunnel, then passes bytes on to the other connection of the tunnel.
    private final class TunnelHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let behavior: Behavior
        private let seen: Locked<[String]>
        private var head = ByteBuffer()
        private var isDecided = false
        private var other: (any Channel)?

        init(_ behavior: Behavior, _ seen: Locked<[String]>, other: (any Channel)? = nil) {
            (self.behavior, self.seen, self.other) = (behavior, seen, other)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            if let other { return other.writeAndFlush(bytes, promise: nil) }
            head.writeBuffer(&bytes)
            let text = String(buffer: head)
            guard !isDecided, text.hasSuffix("\r\n\r\n") else { return }
            isDecided = true
            seen.withLock { $0.append(text) }
            switch behavior {
            case .connects: connect(to: text, for: context)
            case .connectsAfter(let gate):
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                let opened = context.eventLoop.makeFutureWithTask { await gate.pass() }
                opened.whenSuccess { bound.value.0.connect(to: text, for: bound.value.1) }
            case .responds(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            case .closes: context.close(promise: nil)
            case .hangs: break
            }
        }

        private func connect(to request: String, for context: ChannelHandlerContext) {
            let words = request.split(separator: " ")
            guard words.first == "CONNECT", words.count > 2, let port = words[1].split(separator: ":").last else {
                return context.close(promise: nil)
            }
            let (client, seen) = (context.channel, seen)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { origin in
                    origin.eventLoop.makeCompletedFuture {
                        try origin.pipeline.syncOperations.addHandler(TunnelHandler(.hangs, seen, other: client))
                    }
                }
                .connect(host: "127.0.0.1", port: Int(String(port)) ?? 0)
                .whenComplete { result in
                    let (handler, context) = bound.value
                    guard case .success(let origin) = result else { return context.close(promise: nil) }
                    handler.other = origin
                    let response = ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n")
                    context.writeAndFlush(handler.wrapOutboundOut(response), promise: nil)
                }
        }

        func channelInactive(context: ChannelHandlerContext) { other?.close(promise: nil) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
#endif
