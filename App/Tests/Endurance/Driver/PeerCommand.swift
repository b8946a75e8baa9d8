import ArgumentParser
import AuthInterface
import ConcurrencyPrimitives
import DataAPI
import Foundation
import NIOConcurrencyHelpers
import NetworkCore
import OAuth2Flows
import Storage
import TokenRefresh
import UnixSignals

/// One process of many over a stored session: it sends requests at a constant rate until SIGTERM.
///
/// | line | meaning |
/// |---|---|
/// | `event NAME` | the engine reported something |
/// | `failed CODE TEXT` | a request failed |
/// | `done COUNT` | the process ends by itself after so many requests |
struct PeerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "peer", shouldDisplay: false)

    /// The environment variable with the client's secret.
    static let secretVariable = "ENDURANCE_CLIENT_SECRET"

    @Option var folder: String
    /// Where the server is.
    @Option var server: String
    /// `provider` or `backend`.
    @Option var kind: ServerKind
    @Option var client = ""
    @Option var grace = 0
    /// Requests in a second.
    @Option var rate: Double

    enum ServerKind: String, ExpressibleByArgument { case provider, backend }

    func run() async throws {
        guard let url = URL(string: server) else { throw ValidationError("--server must be a URL") }
        let session = Session(
            url: url, folder: URL(fileURLWithPath: folder), kind: kind, client: client, grace: grace,
            observer: { say("event \(Mirror(reflecting: $0).children.first?.label ?? "\($0)")") })
        let isStopped = NIOLockedValueBox(false)
        let signals = await UnixSignalsSequence(trapping: .sigterm)
        let watch = Task {
            for await _ in signals { isStopped.withLockedValue { $0 = true } }
        }
        defer { watch.cancel() }
        let clock = SystemTimeSource()
        let start = clock.uptime
        var count = 0
        await withTaskGroup(of: Void.self) { group in
            while !isStopped.withLockedValue({ $0 }) {
                try? await clock.sleep(until: start + .seconds(Double(count) / rate))
                count += 1
                group.addTask { await session.sendOne() }
            }
        }
        await session.coordinator.settle()
        say("done \(count)")
    }
}

/// An application put together over one token folder and one server.
struct Session: Sendable {
    let coordinator: TokenRefreshCoordinator
    let open: NetworkClient
    let network: AuthenticatedNetworkClient
    private let kind: PeerCommand.ServerKind

    init(
        url: URL,
        folder: URL,
        kind: PeerCommand.ServerKind,
        client: String = "",
        grace: Int = 0,
        observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        self.kind = kind
        open = NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: [])
        let handler: any TokenRefreshHandler
        switch kind {
        case .backend:
            // No key, which the server would honour: these processes show what happens without one.
            handler = RESTTokenRefreshHandler(network: open, idempotencyKeyField: nil)
        case .provider:
            let secret = ProcessInfo.processInfo.environment[PeerCommand.secretVariable] ?? ""
            handler = OAuth2TokenRefreshHandler(
                tokenEndpoint: url.appendingPathComponent("token"),
                revocationEndpoint: url.appendingPathComponent("revoke"),
                client: .basic(id: client, secret: secret),
                network: open,
                replayTolerance: .within(.seconds(grace))
            )
        }
        coordinator = TokenRefreshCoordinator(
            store: FileTokenStore(folder: folder), handler: handler, observer: observer)
        network = open.authenticated(by: coordinator)
    }

    /// Sends one request, and says so if it failed.
    func sendOne() async {
        do {
            switch kind {
            case .backend: _ = try await network.send(.me)
            case .provider: try await network.send(Endpoint<Void>.get("resource").format(.json))
            }
        } catch let error as NetworkError {
            say("failed \(error.code) \(error)")
        } catch {
            say("failed other \(type(of: error))")
        }
    }
}
