import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket server on a free port of loopback, which does with each connection what a script says about its token.
struct SocketServer: Sendable {
    enum Action: Sendable {
        /// Refuses the handshake with this status.
        case refuse(Int)
        /// Sends texts, and closes the connection with a code; `nil` closes it without one.
        case send([String], then: UInt16?)
    }

    private enum Handshake: Sendable {
        case accepted(NIOAsyncChannel<WebSocketFrame, WebSocketFrame>, Action)
        case refused(any Channel)
    }

    let port: Int

    static func run<Value>(
        _ script: @escaping @Sendable (_ authorization: String?) -> Action, _ test: (SocketServer) async throws -> Value
    ) async throws -> Value {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try configure(channel, script) }
            }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections { group.addTask { try? await serve(connection) } }
                    }
                }
            }
            let value = try await test(SocketServer(port: server.channel.localAddress?.port ?? 0))
            group.cancelAll()
            return value
        }
    }

    private static func configure(
        _ channel: any Channel, _ script: @escaping @Sendable (String?) -> Action
    ) throws -> EventLoopFuture<Handshake> {
        let upgrader = NIOTypedWebSocketServerUpgrader<Handshake>(
            shouldUpgrade: { channel, head in
                let action = script(head.headers.first(name: "Authorization"))
                guard case .refuse(let status) = action else {
                    return channel.eventLoop.makeSucceededFuture(HTTPHeaders())
                }
                let fields: HTTPHeaders = ["Content-Length": "0", "Connection": "close"]
                let response = HTTPResponseHead(
                    version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: fields)
                channel.write(HTTPServerResponsePart.head(response), promise: nil)
                return channel.writeAndFlush(HTTPServerResponsePart.end(nil)).map { nil }
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let frames = try NIOAsyncChannel<WebSocketFrame, WebSocketFrame>(
                        wrappingChannelSynchronously: channel)
                    return .accepted(frames, script(head.headers.first(name: "Authorization")))
                }
            })
        let upgrade = NIOTypedHTTPServerUpgradeConfiguration(upgraders: [upgrader]) { channel in
            channel.eventLoop.makeSucceededFuture(.refused(channel))
        }
        return try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
            configuration: .init(upgradeConfiguration: upgrade))
    }

    private static func serve(_ connection: EventLoopFuture<Handshake>) async throws {
        switch try await connection.get() {
        case .refused(let channel): try await channel.close()
        case .accepted(let frames, .send(let texts, let code)):
            try await frames.executeThenClose { inbound, outbound in
                for text in texts {
                    try await outbound.write(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)))
                }
                guard let code else { return }
                try await outbound.write(
                    WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer(integer: code)))
                for try await frame in inbound where frame.opcode == .connectionClose { return }
            }
        case .accepted(let frames, .refuse): try await frames.channel.close()
        }
    }
}
