import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A bound socket and the task that serves it.
struct HTTPServer: Sendable {
    /// The port that was bound.
    let port: Int

    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Binds, and returns once connections are accepted.
    ///
    /// - Throws: `IOError` when the address cannot be bound.
    static func start(
        _ configuration: DevBackend.Configuration, pipeline: RequestPipeline
    ) async throws -> HTTPServer {
        let (bound, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
        let limits = configuration.limits
        let bodyTimeout = { @Sendable in
            RequestBodyTimeoutHandler(
                idleTimeout: limits.bodyIdleTimeout, totalTimeout: limits.bodyTotalTimeout)
        }
        let service = try HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(additionalChannelHandlers: [bodyTimeout()])
        ).buildServer(
            configuration: ServerConfiguration(
                address: .hostname(configuration.host, port: configuration.port), backlog: configuration.backlog),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: configuration.logger,
            responder: { request, writer, channel in try await pipeline.serve(request, writer, on: channel) },
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? configuration.port) }
        )
        var settings = ServiceGroupConfiguration(services: [service], logger: configuration.logger)
        settings.maximumGracefulShutdownDuration = configuration.shutdownGrace
        let group = ServiceGroup(configuration: settings)
        let running = Task {
            do {
                try await group.run()
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
        for try await port in bound { return HTTPServer(port: port, group: group, running: running) }
        throw CancellationError()
    }

    /// Stops accepting, waits for requests in progress for at most the configured time, and cancels the rest.
    func stop() async {
        await group.triggerGracefulShutdown()
        // The end matters, an error does not.
        _ = await running.result
    }
}
