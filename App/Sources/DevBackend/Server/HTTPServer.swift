import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A bound socket and the task that serves it.
struct HTTPServer: Sendable {
    static let host = "127.0.0.1"

    let port: Int

    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Binds, and returns once connections are accepted.
    static func start(port: Int, pipeline: RequestPipeline) async throws -> HTTPServer {
        let (bound, binding) = AsyncStream<Int>.makeStream()
        let logger = Logger(label: "dev-backend", factory: { _ in SwiftLogNoOpLogHandler() })
        let service = try HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(idleTimeout: .minutes(10))
        ).buildServer(
            // The kernel queues a burst of connections until they are accepted.
            configuration: ServerConfiguration(address: .hostname(host, port: port), backlog: 2048),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { request, writer, channel in try await pipeline.serve(request, writer, on: channel) },
            onServerRunning: { channel in binding.yield(channel.localAddress?.port ?? port) })
        var settings = ServiceGroupConfiguration(services: [service], logger: logger)
        settings.maximumGracefulShutdownDuration = .seconds(2)
        let group = ServiceGroup(configuration: settings)
        let running = Task {
            defer { binding.finish() }
            try await group.run()
        }
        for await port in bound { return HTTPServer(port: port, group: group, running: running) }
        try Task.checkCancellation()
        try await running.value
        throw CancellationError()
    }

    /// Stops accepting, waits for requests in progress for a moment, and cancels the rest.
    func stop() async {
        await group.triggerGracefulShutdown()
        // The end matters, an error does not.
        _ = await running.result
    }
}

/// The process's limit of open files, sockets included.
enum OpenFileLimit {
    /// Raises the soft limit to the hard one: a thousand connections with both ends in one process need more than the
    /// usual 1,024. If the system refuses, the limit stays and fewer connections fit.
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
