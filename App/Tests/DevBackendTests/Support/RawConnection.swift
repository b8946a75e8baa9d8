import Foundation
import NIOCore
import NIOPosix

@testable import DevBackend

/// A TCP connection for requests that an HTTP client cannot send.
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

    /// Sends text unchanged. Line ends must be CRLF.
    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    /// Reads until the input contains the text or the server closes the connection.
    ///
    /// - Returns: The input since the last read.
    func receive(until text: String) async -> String {
        var everything = ""
        for await piece in received {
            everything += piece
            if everything.contains(text) { break }
        }
        return everything
    }

    /// Reads until the server closes the connection.
    ///
    /// - Returns: The input since the last read.
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
