import ArgumentParser
import AuthInterface
import ConcurrencyPrimitives
import DataAPI
import DevBackend
import Foundation
import NIOConcurrencyHelpers
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkURLSession
import OAuth2Flows
import ProgramTesting
import Storage
import TokenRefresh
import UnixSignals

/// One of several processes over a stored session. It sends requests at a constant rate until SIGTERM.
///
/// | line | meaning |
/// |---|---|
/// | `started` | from now on SIGTERM ends the process in order |
/// | `event NAME` | an event of the engine |
/// | `failed CODE TEXT` | a request failed |
/// | `done COUNT` | the process ends by itself, after this number of requests |
struct PeerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "peer", shouldDisplay: false)

    /// The environment variable for ``secret``.
    static let secretVariable = "ENDURANCE_CLIENT_SECRET"

    /// The client's secret, or its key as PEM.
    static var secret: String { ProcessInfo.processInfo.environment[secretVariable] ?? "" }

    @Option var folder: String
    @Option var server: String
    /// `provider`, `backend` or, of a session that is bound to a key (DPoP), `strict`.
    @Option var kind: ServerKind
    @Option var client = ""
    /// Requests per second.
    @Option var rate: Double
    @Option var account = "default"
    @Option var transport = Transport.urlSession
    /// The file of the clock that the process shares with others.
    @Option var clock: String?
    /// The deadline of a refresh in seconds. All other limits are twice as long, or longer.
    @Option var deadline: Int64?
    /// Which replays the server tolerates: `none`, `key`, or a number of seconds.
    @Option var replay = "none"
    @Option var stopAt: StopPoint?
    /// The base URL of the resource server, and the folder of the session's key: of `strict`.
    @Option var resourceServer = ""
    @Option var keys = ""

    enum ServerKind: String, ExpressibleByArgument { case provider, backend, strict }

    func run() async throws {
        guard let url = URL(string: server) else { throw ValidationError("--server must be a URL") }
        let session = try await makeSession(url)
        let isStopped = NIOLockedValueBox(false)
        let signals = await UnixSignalsSequence(trapping: .sigterm)
        let signalTask = Task {
            for await _ in signals { isStopped.withLockedValue { $0 = true } }
        }
        defer { signalTask.cancel() }
        note("started")
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
        note("done \(count)")
    }

    private func makeSession(_ url: URL) async throws -> PeerSession {
        let observer = { @Sendable (event: SessionEvent) in
            note("event \(Mirror(reflecting: event).children.first?.label ?? "\(event)")")
        }
        let folder = URL(fileURLWithPath: folder)
        if kind == .strict {
            guard let resources = URL(string: resourceServer) else {
                throw ValidationError("--resource-server must be a URL")
            }
            let setup = BoundSession(
                issuer: url, resourceServer: resources, client: client, clientKey: Self.secret, folder: folder,
                keys: URL(fileURLWithPath: keys), transport: transport.made)
            return try setup.start(observer)
        }
        if kind == .provider {
            return PeerSession(provider: url, folder: folder, client: client, observer: observer)
        }
        guard let clock else {
            return PeerSession(url: url, store: FileTokenStore(folder: folder), observer: observer)
        }
        var policy = TokenRefreshPolicy()
        if let deadline {
            (policy.deadline, policy.storeDeadline) = (.seconds(deadline), .seconds(deadline))
            (policy.callLimit, policy.abandonAfter) = (.seconds(2 * deadline), .seconds(2 * deadline))
            policy.wakeGrace = .seconds(deadline)
        }
        let (time, stop) = (try SharedClock(at: URL(fileURLWithPath: clock)), await ProcessStop(at: stopAt))
        let tolerance = replay == "key" ? ReplayTolerance.sameKey : Int64(replay).map { .within(.seconds($0)) }
        let store = FileTokenStore(folder: folder, account: account, clock: time)
        return PeerSession(
            url: url, store: StoppingTokenStore(base: store, stop: stop),
            transport: StoppingTransport(base: transport.made, stop: stop), replay: tolerance ?? .none, policy: policy,
            clock: time, activity: stop.activity, observer: observer)
    }
}

/// The object graph over a token folder and a server.
struct PeerSession: Sendable {
    let coordinator: TokenRefreshCoordinator
    let unauthenticated: NetworkClient
    let network: AuthenticatedNetworkClient
    private let kind: PeerCommand.ServerKind

    init(
        provider url: URL, folder: URL, client: String, observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        kind = .provider
        unauthenticated = NetworkClient(baseURL: url, transport: URLSessionTransport(), format: .json)
        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: url.appendingPathComponent("token"),
            revocationEndpoint: url.appendingPathComponent("revoke"),
            client: .basic(id: client, secret: PeerCommand.secret), network: unauthenticated,
            replayTolerance: .within(.seconds(RunCommand.grace)))
        coordinator = TokenRefreshCoordinator(
            store: FileTokenStore(folder: folder), handler: handler, observer: observer)
        network = unauthenticated.authenticated(by: coordinator)
    }

    /// A session of the development server. Most of its processes show what happens without a key.
    init(
        url: URL, store: some SharedTokenStore, transport: any HTTPTransport = URLSessionTransport(),
        replay: ReplayTolerance = .none, policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        clock: any TimeSource = SystemTimeSource(), activity: any ExpiringActivity = SystemExpiringActivity(),
        observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        kind = .backend
        unauthenticated = NetworkClient(baseURL: url, transport: transport, format: .envelope)
        let handler = RESTTokenRefreshHandler(
            network: unauthenticated, replayTolerance: replay,
            idempotencyKeyField: replay == .sameKey ? "Idempotency-Key" : nil)
        coordinator = TokenRefreshCoordinator(
            store: store, handler: handler, policy: policy, clock: clock, activity: activity, observer: observer)
        network = unauthenticated.authenticated(by: coordinator)
    }

    /// A session of the strict profile: see ``BoundSession``.
    init(_ coordinator: TokenRefreshCoordinator, _ network: NetworkClient, _ policy: AuthenticationPolicy) {
        kind = .strict
        self.coordinator = coordinator
        unauthenticated = network
        self.network = network.authenticated(by: coordinator, policy: policy)
    }

    /// Signs a user in to the development server, and stores the session.
    static func signIn(to backend: DevBackend, in folder: TemporaryFolder) async throws {
        let session = PeerSession(url: backend.baseURL, store: FileTokenStore(folder: folder.tokens))
        let auth = AuthService(
            unauthenticated: session.unauthenticated, network: session.network, session: session.coordinator)
        let token = try DevelopmentProvider().token(for: "apple", subject: "ada", name: "ada")
        try await auth.socialLogin(.apple, token: token)
    }

    func sendOne() async {
        do {
            switch kind {
            case .backend: _ = try await network.send(.me)
            case .provider, .strict: try await network.send(Endpoint<Void>.get("resource"))
            }
        } catch let error as NetworkError {
            note("failed \(error.code) \(error)")
        } catch {
            note("failed other \(type(of: error))")
        }
    }
}

enum Transport: String, ExpressibleByArgument, CaseIterable {
    case asyncHTTPClient = "AsyncHTTPClient"
    case urlSession = "URLSession"

    var made: any HTTPTransport {
        switch self {
        case .asyncHTTPClient: AsyncHTTPClientTransport()
        case .urlSession: URLSessionTransport()
        }
    }
}
