import Foundation
import NIOCore
import NIOPosix

@testable import DevBackend

/// A TCP connection that sends what it is told, for what a well-behaved client would never send.
struct RawConnection: Sendable {
    private let channel: any Channel
    private let received: AsyncStream<String>

    /// Connects to a server.
    static func open(to backend: DevBackend) async throws -> RawConnection {
        let (received, continuation) = AsyncStream<String>.makeStream()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.pipeline.addHandler(Receiver(continuation))
            }
            .connect(
                host: try backend.origin.host.required("a host"), port: try backend.origin.port.required("a port")
            ).get()
        return RawConnection(channel: channel, received: received)
    }

    /// Writes text; each line end must be written out as CRLF.
    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    /// Everything that has come so far, read until it contains the text or the server closes.
    func receive(until text: String) async -> String {
        var everything = ""
        for await piece in received {
            everything += piece
            if everything.contains(text) { break }
        }
        return everything
    }

    /// Everything that comes until the server closes.
    func receiveAll() async -> String {
        var everything = ""
        for await piece in received { everything += piece }
        return everything
    }

    func close() async throws {
        try await channel.close()
    }

    private final class Receiver: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let continuation: AsyncStream<String>.Continuation

        init(_ continuation: AsyncStream<String>.Continuation) {
            self.continuation = continuation
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(String(buffer: unwrapInboundIn(data)))
        }

        func channelInactive(context: ChannelHandlerContext) {
            continuation.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            continuation.finish()
        }
    }
}
