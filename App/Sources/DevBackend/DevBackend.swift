public import Foundation
import UnixSignals

/// A server with HTTP, SQLite, rotating refresh tokens, and faults on demand.
///
/// Any number of servers can run in one process, each on its own port: a second one can be "another origin". All
/// members can be used from any thread.
public struct DevBackend: Sendable {
    /// The configuration that the server was started with.
    public let configuration: Configuration

    /// The scheme, host and port, such as `http://127.0.0.1:49152`.
    public let origin: URL

    private let services: BackendServices
    private let server: HTTPServer

    /// The base URL of the API: the origin and `/api/v1`.
    public var baseURL: URL { origin.appendingPathComponent(RouteTable.basePath) }

    /// Opens the database, binds the port and returns once connections are accepted. The server runs until ``stop()``,
    /// even if the value is discarded.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> DevBackend {
        OpenFileLimit.raise()
        let services = try await BackendServices(configuration)
        let server = try await HTTPServer.start(port: configuration.port, pipeline: services.pipeline)
        guard let origin = URL(string: "http://\(HTTPServer.host):\(server.port)") else {
            await server.stop()
            throw URLError(.badURL)
        }
        return DevBackend(configuration: configuration, origin: origin, services: services, server: server)
    }

    /// Runs a server while the body runs, then stops it, also when the body throws.
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

    /// Stops accepting, opens every gate, ends every event stream, waits two seconds for requests in progress, and
    /// cancels the rest. Calling it again does nothing.
    public func stop() async {
        services.faults.openAllGates()
        await server.stop()
        services.database.close()
    }
}

extension DevBackend {
    /// The current fault plan, with its current counts. Setting it applies to later requests, and to held ones.
    public var faults: FaultPlan {
        get { services.faults.plan }
        nonmutating set { services.faults.plan = newValue }
    }

    /// The server's counts.
    public var statistics: ServerStatistics { services.ledger.statistics }

    /// The latest 20,000 requests in the order of arrival, those to unknown paths included.
    public var journal: [JournalEntry] { services.ledger.journal }

    /// Holds requests that match, as a ``FaultRule`` does, at a gate. Stopping the server opens it.
    public func hold(_ method: String?, _ path: String, at position: Gate.Position = .beforeHandler) -> Gate {
        services.faults.hold(method: method, path: path, at: position)
    }

    /// Expires every access token issued so far. Refresh tokens stay valid.
    public func expireAccessTokens() async throws {
        try await services.database.startNextEpoch()
    }

    /// Revokes every session of a user, as an administrator does.
    public func revokeSessions(ofUser userID: Int64) async throws {
        try await services.sessions.endAll(ofUser: userID)
    }
}

/// The URLs of a running server and the OAuth 2.0 client it accepts, without the client's secret.
public struct ServerDescription: Sendable, Hashable, Codable {
    /// The base URL of the API.
    public let baseURL: URL
    /// The token endpoint (RFC 6749 §3.2).
    public let tokenEndpoint: URL
    /// The revocation endpoint (RFC 7009 §2).
    public let revocationEndpoint: URL
    /// The issuer (RFC 8414 §2), from which a client discovers all endpoints.
    public let issuer: URL
    /// The identifier of the only OAuth 2.0 client, such as `latchkey-dev`.
    public let oauth2ClientID: String
    /// The client's authentication methods, named as in RFC 8414 §2.
    public let oauth2ClientAuthentication: [String]
    /// How long an access token is valid, in whole seconds, rounded up.
    public let accessTokenLifetimeSeconds: Int
    /// Whether `/dev/faults`, `/dev/expire` and `/dev/stats` exist.
    public let allowsDevEndpoints: Bool
}

extension DevBackend {
    /// The URLs of this server and the OAuth 2.0 client it accepts, for a program that prints them when it starts.
    public var serverDescription: ServerDescription {
        let client = configuration.oauth2Client
        return ServerDescription(
            baseURL: baseURL,
            tokenEndpoint: baseURL.appendingPathComponent("oauth2/token"),
            revocationEndpoint: baseURL.appendingPathComponent("oauth2/revoke"),
            issuer: baseURL,
            oauth2ClientID: client.id,
            oauth2ClientAuthentication: client.secret == nil
                ? ["none"] : ["client_secret_basic", "client_secret_post"],
            accessTokenLifetimeSeconds: configuration.accessTokenLifetime.secondsRoundedUp,
            allowsDevEndpoints: configuration.allowsDevEndpoints)
    }
}
