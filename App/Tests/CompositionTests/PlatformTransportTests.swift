import Composition
import DataAPI
import Foundation
import NIOCore
import NIOPosix
import NetworkCore
import Testing

@Suite(.timeLimit(.minutes(20))) struct PlatformTransportTests {
    @Test func `trailer fields after a body do not end the process`() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TrailerResponder())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let url = try #require(URL(string: "http://127.0.0.1:\(server.localAddress?.port ?? 0)/articles"))
        let transport = PlatformTransport()
        for _ in 0..<2 {
            let response = try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: url)))
            #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
        }
        await transport.shutdown()
        try await server.close()
    }

    @Test func `a graph that was shut down sends nothing`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let graph = AppGraph(AppConfiguration(baseURL: url, store: .memory))
        try await graph.shutdown()
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.code == .notSignedIn)
        await #expect(throws: NetworkError.self) {
            try await graph.unauthenticatedNetwork.send(Endpoint<Data>.get("articles"))
        }
    }
}

/// Responds to each request with a chunked body and a trailer field.
private final class TrailerResponder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var received = ""

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard received.hasSuffix("\r\n\r\n") else { return }
        received = ""
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
        let body = "5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response + body)), promise: nil)
    }
}
