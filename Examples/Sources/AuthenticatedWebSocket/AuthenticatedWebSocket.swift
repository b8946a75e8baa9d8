public import AuthInterface
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// For a client that holds a WebSocket open for longer than a token is valid, over SwiftNIO. Copy all of it.
///
/// When the server refuses the handshake with 401, or closes the connection because the token has expired, the engine
/// replaces the token and the connection is opened again. Other ends are yours to judge: see ``receive(_:)``.
///
/// This is plain `ws`, for loopback. For `wss`, put a `NIOSSLClientHandler` first into the pipeline: a token must not
/// cross a network without TLS.
public struct AuthenticatedWebSocket: Sendable {
    private enum Handshake: Sendable {
        case accepted(NIOAsyncChannel<WebSocketFrame, WebSocketFrame>)
        case refused(NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>)
    }

    /// The connection ended without a closing frame, or with another code.
    public struct ConnectionLost: Error {}

    /// The longest text, in bytes, whole or in fragments; a longer one ends the connection.
    private static let longestText = 1_024 * 1_024

    /// The longest time from the connection to the response to its handshake.
    private static let handshakeLimit: TimeAmount = .seconds(10)

    private let host: String, port: Int, path: String, refusal: UInt16, provider: any TokenProvider

    /// The code `refusal` closes a connection whose token has expired: one of the application's own, 4000 to 4999
    /// (RFC 6455 §7.4.2).
    public init(host: String, port: Int, path: String, refusal: UInt16 = 4_401, _ provider: any TokenProvider) {
        (self.host, self.port, self.path, self.refusal, self.provider) = (host, port, path, refusal, provider)
    }

    /// Receives texts until the server closes the connection normally.
    ///
    /// - Throws: `AuthenticationError` when there is no token, or the server refuses even a new one;
    ///   ``ConnectionLost``; the errors of NIO and of `receive`.
    public func receive(_ receive: (String) async throws -> Void) async throws {
        var token = try await provider.token()
        while try await isTokenRefused(token, receive) {
            token = try await provider.replacement(after: TokenRefusal(of: token, endpoint: "GET \(path)", status: 401))
        }
    }

    /// One connection.
    private func isTokenRefused(_ token: SessionToken, _ receive: (String) async throws -> Void) async throws -> Bool {
        switch try await handshake(token) {
        case .refused(let response):
            return try await response.executeThenClose { parts, _ in
                for try await case .head(let head) in parts where head.status == .unauthorized { return true }
                throw ConnectionLost()
            }
        case .accepted(let frames):
            return try await frames.executeThenClose { inbound, outbound in
                for try await frame in inbound {
                    var data = frame.unmaskedData
                    // A client masks its frames (RFC 6455 §5.3).
                    var reply = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data)
                    switch frame.opcode {
                    case .text: try await receive(String(buffer: data))
                    case .ping: try await outbound.write(reply)
                    case .connectionClose:
                        reply.opcode = .connectionClose
                        try? await outbound.write(reply)
                        let code = data.readInteger(as: UInt16.self)
                        guard code == refusal || code == 1_000 else { throw ConnectionLost() }
                        return code == refusal
                    default: break
                    }
                }
                throw ConnectionLost()
            }
        }
    }

    private func handshake(_ token: SessionToken) async throws -> Handshake {
        let fields = HTTPHeaders([("Host", "\(host):\(port)"), ("Authorization", "Bearer \(token.value)")])
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: fields)
        let upgrader = NIOTypedWebSocketClientUpgrader<Handshake>(maxFrameSize: Self.longestText) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let fragments = NIOWebSocketFrameAggregator(
                    minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1_024,
                    maxAccumulatedFrameSize: Self.longestText)
                try channel.pipeline.syncOperations.addHandler(fragments)
                return .accepted(try .init(wrappingChannelSynchronously: channel))
            }
        }
        let upgrade = NIOTypedHTTPClientUpgradeConfiguration(upgradeRequestHead: head, upgraders: [upgrader]) { http in
            http.eventLoop.makeCompletedFuture { .refused(try .init(wrappingChannelSynchronously: http)) }
        }
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: upgrade)
        pipeline.leftOverBytesStrategy = .forwardBytes  // the default drops frames that arrive with the response
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        return try await bootstrap.connect(host: host, port: port) { [pipeline] channel in
            channel.eventLoop.makeCompletedFuture {
                let limit = channel.eventLoop.scheduleTask(in: Self.handshakeLimit) {
                    channel.close(promise: nil)
                }
                let response = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                    configuration: pipeline)
                response.whenComplete { _ in limit.cancel() }
                return response
            }
        }.get()
    }
}
