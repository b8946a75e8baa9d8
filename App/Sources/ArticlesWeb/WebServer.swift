package import ArticlesUI
package import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// Serves the screens as pages to a browser of this computer: one user, one window, on 127.0.0.1 only.
///
/// The server speaks cleartext HTTP, which does not leave the computer. See ``AccessGuard`` for who may use it.
package struct WebServer: Sendable {
    package struct Configuration: Sendable {
        /// The loopback port; 0 is any free port.
        package var port = 0

        /// How long a request waits for the work it starts. Work that takes longer continues, and the page shows it.
        package var actionWait = Duration.seconds(1)

        /// The largest photo, in bytes: 32 MiB. It is fitted before it is sent on.
        package var photoBytes = 32 * 1024 * 1024

        package init() {}
    }

    /// The URL for the first visit. Its token can be used once, so the URL is shown to the user and nowhere else.
    package let url: URL

    private let window: WebWindow
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Binds the port, and returns once connections are accepted. The server runs until ``stop()``.
    package static func start(
        _ services: ScreenServices, _ configuration: Configuration = Configuration()
    ) async throws -> WebServer {
        let access = AccessGuard()
        let window = await WebWindow(services: services, actionWait: configuration.actionWait)
        let (bound, binding) = AsyncStream<Int>.makeStream()
        let logger = Logger(label: "articles-web", factory: { _ in SwiftLogNoOpLogHandler() })
        let application = Application(
            router: WebRoutes(window: window, access: access, photoBytes: configuration.photoBytes).router,
            server: .http1(configuration: HTTP1Channel.Configuration(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: configuration.port), serverName: nil),
            onServerRunning: { channel in binding.yield(channel.localAddress?.port ?? configuration.port) },
            logger: logger)
        var settings = ServiceGroupConfiguration(services: [application], logger: logger)
        settings.maximumGracefulShutdownDuration = .seconds(2)
        let group = ServiceGroup(configuration: settings)
        let running = Task {
            defer { binding.finish() }
            try await group.run()
        }
        for await port in bound {
            let text = "http://\(access.authority(port: port))/?token=\(access.token.text)"
            guard let url = URL(string: text) else { throw URLError(.badURL) }
            await window.open()
            return WebServer(url: url, window: window, group: group, running: running)
        }
        try Task.checkCancellation()
        try await running.value
        throw CancellationError()
    }

    /// Serves until the process receives SIGINT or SIGTERM, or the calling task is cancelled; then stops.
    /// `started` is called when a signal ends the server and no longer the process.
    package func run(_ started: () throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        do {
            try started()
        } catch {
            await stop()
            throw error
        }
        for await _ in signals { break }
        await stop()
    }

    /// Ends the live updates, waits two seconds for requests under way, and cancels what the screens have started.
    package func stop() async {
        await window.close()
        await group.triggerGracefulShutdown()
        // The end matters, an error does not.
        _ = await running.result
    }
}
