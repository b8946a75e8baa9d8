import NIOCore
import NIOHTTP1
import NIOPosix

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A server that costs little, for measurements of clients. It writes its port, and ends with its standard input.
///
/// `GET /bytes/N` gets N bytes. Any other request gets the body `/N` of JSON, where N is a length of at least 40. What
/// a request carries is read and dropped.
@main
enum BenchServer {
    static func main() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4_096)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false).flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Responder())
                }
            }
        let channel = try bootstrap.bind(host: "127.0.0.1", port: 0).wait()
        print(channel.localAddress?.port ?? 0)
        fflush(nil)
        while readLine() != nil {}
    }
}

private final class Responder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let piece = 256 * 1_024

    private var request: HTTPRequestHead?
    /// The bytes of a long response that were not written yet.
    private var rest = 0
    private var isWriting = false
    private var json: [Int: ByteBuffer] = [:]

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = head
        case .body: break
        case .end: respond(context)
        }
    }

    private func respond(_ context: ChannelHandlerContext) {
        let path = request?.uri.split(separator: "/") ?? []
        let length = path.last.flatMap { Int($0) } ?? 40
        var headers = HTTPHeaders([("Content-Length", "\(length)"), ("Content-Type", "application/json")])
        headers.add(name: "Date", value: "Wed, 25 Nov 2026 10:00:00 GMT")
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        guard path.first == "bytes" else {
            context.write(wrapOutboundOut(.body(.byteBuffer(body(length)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return
        }
        rest = length
        writeRest(context)
    }

    /// Writes while the connection takes more, so that no gigabyte waits in memory.
    private func writeRest(_ context: ChannelHandlerContext) {
        // A write can end in this function again, by `channelWritabilityChanged`.
        guard rest > 0, !isWriting else { return }
        isWriting = true
        defer { isWriting = false }
        while rest > 0, context.channel.isWritable {
            let count = min(rest, Self.piece)
            rest -= count
            context.writeAndFlush(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(repeating: 0x20, count: count)))), promise: nil)
        }
        if rest == 0 { context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { writeRest(context) }

    /// An article of JSON with this many bytes.
    private func body(_ length: Int) -> ByteBuffer {
        if let made = json[length] { return made }
        let (start, end) = ("{\"id\":7,\"title\":\"An article\",\"text\":\"", "\"}")
        let text = start + String(repeating: "x", count: max(0, length - start.count - end.count)) + end
        json[length] = ByteBuffer(string: text)
        return ByteBuffer(string: text)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
