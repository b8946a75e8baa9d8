import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
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
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [bodyTimeout()],
                idleTimeout: TimeAmount(limits.connectionIdleTimeout))
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

/// The process's limit of open files, sockets included.
enum OpenFileLimit {
    /// Raises the soft limit to the hard one. If the system refuses, the limit stays and fewer connections fit.
    static func raise() {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0, limits.rlim_cur < limits.rlim_max else { return }
        limits.rlim_cur = limits.rlim_max
        #if canImport(Darwin)
        // The system refuses more than this even where the hard limit says infinity.
        limits.rlim_cur = min(limits.rlim_cur, rlim_t(OPEN_MAX))
        #endif
        _ = setrlimit(resource, &limits)
    }
}

/// Stops reading a body that the client does not send in time.
///
/// Only the time of waiting for the client counts, not the time in which the server does not read. The limits also
/// apply to a body that no handler reads, which the server discards after its response.
final class RequestBodyTimeoutHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// The client did not send the rest of a body in time.
    struct TimedOut: Error {}

    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let idleTimeout: TimeAmount
    private let totalTimeout: TimeAmount
    private var isBodyIncomplete = false
    private var remaining = TimeAmount.zero
    private var waiting: (since: NIODeadline, timeout: Scheduled<Void>)?

    init(idleTimeout: Duration, totalTimeout: Duration) {
        self.idleTimeout = TimeAmount(idleTimeout)
        self.totalTimeout = TimeAmount(totalTimeout)
    }

    func read(context: ChannelHandlerContext) {
        // A repeated read continues the same wait: bytes that are no part of the body do not count.
        if isBodyIncomplete, waiting == nil { startWaiting(context) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        stopWaiting()
        switch unwrapInboundIn(data) {
        case .head:
            isBodyIncomplete = true
            remaining = totalTimeout
        case .body: break
        case .end: isBodyIncomplete = false
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopWaiting()
        isBodyIncomplete = false
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stopWaiting()
    }

    private func startWaiting(_ context: ChannelHandlerContext) {
        let timeout = context.eventLoop.assumeIsolated().scheduleTask(in: min(idleTimeout, remaining)) {
            self.waiting = nil
            self.isBodyIncomplete = false
            context.fireErrorCaught(TimedOut())
        }
        waiting = (NIODeadline.now(), timeout)
    }

    private func stopWaiting() {
        guard let waiting else { return }
        waiting.timeout.cancel()
        remaining = max(.zero, remaining - (NIODeadline.now() - waiting.since))
        self.waiting = nil
    }
}
