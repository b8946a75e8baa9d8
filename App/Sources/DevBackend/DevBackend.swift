public import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import UnixSignals

/// The real server of the contract: HTTP, SQLite, rotating refresh tokens, and faults on demand.
///
/// It binds a port of its own, so any number can run in one process: a second one serves as "another origin".
/// Everything here may be used from any thread.
///
///     try await DevBackend.withServer { backend in
///         let gate = backend.hold("POST", "/auth/refresh")
///         …
///         await gate.arrivals(1)
///         gate.open()
///         #expect(backend.statistics.refreshes.committed == 1)
///     }
public final class DevBackend: Sendable {
    /// What the server was started with.
    public let configuration: Configuration

    /// The scheme, host and port, such as `http://127.0.0.1:49152`.
    public let origin: URL

    let database: BackendDatabase
    let sessions: Sessions
    let faultInjector: FaultInjector
    let ledger: RequestLedger
    private let server: HTTPServer

    private init(
        configuration: Configuration, origin: URL, services: BackendServices, server: HTTPServer
    ) {
        self.configuration = configuration
        self.origin = origin
        database = services.database
        sessions = services.sessions
        faultInjector = services.faults
        ledger = services.ledger
        self.server = server
    }

    /// Where the API begins: the origin and `/api/v1`.
    public var baseURL: URL { origin.appendingPathComponent(RouteTable.basePath) }

    /// Opens the database, binds the port and returns once connections are accepted.
    ///
    /// - Parameter configuration: what the server is told at its start.
    /// - Returns: the running server. It runs until `stop()`, whether or not this handle is kept.
    /// - Throws: `DatabaseError` when the database cannot be opened, `IOError` when the port cannot be bound.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> DevBackend {
        if configuration.raisesOpenFileLimit { OpenFileLimit.raise() }
        let services = try await BackendServices(configuration)
        let server = try await HTTPServer.start(configuration, pipeline: services.pipeline)
        var components = URLComponents()
        components.scheme = "http"
        // An IPv6 address stands in brackets (RFC 3986 §3.2.2).
        components.host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        components.port = server.port
        guard let origin = components.url else {
            await server.stop()
            throw URLError(.badURL)
        }
        return DevBackend(configuration: configuration, origin: origin, services: services, server: server)
    }

    /// Runs a server for as long as the body takes, then stops it, also when the body throws.
    ///
    /// - Parameters:
    ///   - configuration: what the server is told at its start.
    ///   - body: what to do with it.
    /// - Returns: what the body returns.
    /// - Throws: what `start` and the body throw.
    public static func withServer<Result>(
        _ configuration: Configuration = Configuration(), _ body: (DevBackend) async throws -> Result
    ) async throws -> Result {
        let backend = try await start(configuration)
        do {
            let result = try await body(backend)
            await backend.stop()
            return result
        } catch {
            await backend.stop()
            throw error
        }
    }

    /// Serves until the process receives SIGINT or SIGTERM, or the calling task is cancelled; then stops.
    public func run() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        for await _ in signals { break }
        await stop()
    }

    /// Stops accepting, opens every gate, waits for requests in progress for at most `shutdownGrace`, and cancels
    /// what is left. Calling it again is harmless.
    public func stop() async {
        faultInjector.openAllGates()
        await server.stop()
        database.close()
    }
}
