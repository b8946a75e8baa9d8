package import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A TCP connection, for requests that an HTTP client cannot send and for responses that do not end.
package struct RawConnection: Sendable {
    private let channel: any Channel
    private let received: AsyncStream<Data>
    private let rest = NIOLockedValueBox(Data())

    package static func open(port: Int) async throws -> RawConnection {
        let (received, continuation) = AsyncStream<Data>.makeStream()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in channel.pipeline.addHandler(Receiver(continuation)) }
            .connect(host: "127.0.0.1", port: port).get()
        return RawConnection(channel: channel, received: received)
    }

    /// Sends text unchanged. The line ends of HTTP are CRLF.
    package func send(_ text: String) async throws { try await send(Data(text.utf8)) }

    package func send(_ data: Data) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: data))
    }

    /// Reads until the input contains the text, or the server closes the connection.
    ///
    /// - Returns: The input since the last read, up to the text. What follows the text is read next.
    package func receive(until text: String) async -> String {
        var input = rest.withLockedValue { $0 }
        var pieces = received.makeAsyncIterator()
        while true {
            if let found = input.range(of: Data(text.utf8)) {
                rest.withLockedValue { $0 = Data(input[found.upperBound...]) }
                return String(decoding: input[..<found.upperBound], as: UTF8.self)
            }
            guard let piece = await pieces.next() else {
                rest.withLockedValue { $0 = Data() }
                return String(decoding: input, as: UTF8.self)
            }
            input += piece
        }
    }

    /// Reads until the server closes the connection. Returns the input since the last read.
    package func receiveAll() async -> Data {
        await received.reduce(into: rest.withLockedValue { $0 }) { $0 += $1 }
    }

    package func close() async throws {
        try await channel.close()
    }

    private final class Receiver: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let continuation: AsyncStream<Data>.Continuation

        init(_ continuation: AsyncStream<Data>.Continuation) {
            self.continuation = continuation
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(Data(unwrapInboundIn(data).readableBytesView))
        }

        func channelInactive(context: ChannelHandlerContext) {
            continuation.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            continuation.finish()
        }
    }
}
