import AuthInterface
import ConcurrencyPrimitives
import DataAPI
import DevBackend
import Foundation
import NIOConcurrencyHelpers
import NetworkCore
import OAuth2Flows
import Storage
import TokenRefresh

/// One server, and one application that talks to it over real sockets. What happened is what the server counted.
struct Stage: Sendable {
    /// What a stage is put together from.
    struct Setup: Sendable {
        var server = DevBackend.Configuration()
        var authentication = AuthenticationPolicy()
        var policy = TokenRefreshPolicy()
        var clock: any TimeSource = SystemTimeSource()
        var handler = Handler.rest
        /// What the server forgives, as the handler declares it. Only with `.sameKey` is there a key in the call: the
        /// server honours one whatever is declared.
        var replay = ReplayTolerance.none
        /// As many connections as there are requests: what a gate of the server holds must not keep others from it.
        var connections = 256
    }

    /// The refresh calls to choose between.
    enum Handler: Sendable, CaseIterable { case rest, oauth2 }

    let backend: DevBackend
    let setup: Setup
    let store: any TokenStore
    let session: TokenRefreshCoordinator
    let network: AuthenticatedNetworkClient
    let auth: AuthService
    let events: EventLog

    /// Plays a scenario: starts the server, puts the application together, signs ada in, and stops the server at the
    /// end.
    static func play(
        _ configure: (inout Setup) -> Void = { _ in },
        _ body: (Stage) async throws -> Void
    ) async throws {
        try await play(1, store: { _ in MemoryTokenStore() }, configure) { try await body($0[0]) }
    }

    /// Plays a scenario with several processes: each has an engine and a file store of its own, over one folder. The
    /// first signs ada in, and the others find the session in the store.
    static func play(
        processes count: Int,
        _ configure: (inout Setup) -> Void = { _ in },
        _ body: ([Stage]) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await play(count, store: { _ in FileTokenStore(folder: folder.tokens) }, configure, body)
    }

    /// Plays a scenario over stores of its own. The first stage signs ada in.
    static func play(
        _ count: Int,
        store: (Int) -> any TokenStore,
        _ configure: (inout Setup) -> Void = { _ in },
        _ body: ([Stage]) async throws -> Void
    ) async throws {
        var setup = Setup()
        configure(&setup)
        try await DevBackend.withServer(setup.server) { [setup] backend in
            let stages = (0..<count).map { Stage(backend, setup, store: store($0)) }
            try await stages[0].signIn("ada")
            for stage in stages.dropFirst() { _ = try await stage.session.restore() }
            try await body(stages)
        }
    }

    /// An application as a process puts it together when it starts.
    init(_ backend: DevBackend, _ setup: Setup, store: any TokenStore) {
        self.backend = backend
        self.setup = setup
        self.store = store
        let transport = URLSessionTransport(connectionsPerHost: setup.connections)
        let open = NetworkClient(
            baseURL: backend.baseURL, transport: transport, interceptors: [RetryPolicy.standard])
        let events = EventLog()
        self.events = events
        session = TokenRefreshCoordinator(
            store: store,
            handler: setup.handler.make(backend, network: open, replay: setup.replay),
            policy: setup.policy,
            clock: setup.clock,
            observer: { events.note($0) }
        )
        network = open.authenticated(by: session, policy: setup.authentication)
        auth = AuthService(open: open, network: network, session: session)
    }

    /// The path of the refresh call.
    var refreshPath: String { setup.handler == .rest ? "/auth/refresh" : "/oauth2/token" }

    func signIn(_ user: String) async throws {
        let provider = backend.configuration.provider
        let now = backend.configuration.now()
        let token = try await provider.token(for: "apple", subject: user, name: user, expiresAt: now + 600)
        try await auth.socialLogin(.apple, token: token)
    }

    /// Sends a number of requests at once, for a dozen articles.
    ///
    /// - Returns: What each one failed with; `nil` for those that did not.
    func sendAll(_ count: Int) async -> [NetworkError?] {
        await sendAll(count) { .article(Article.ID(rawValue: Int64(1 + $0 % 12))) }
    }

    /// Sends a number of requests at once.
    ///
    /// - Returns: What each one failed with; `nil` for those that did not.
    func sendAll<Response: Sendable>(
        _ count: Int,
        _ endpoint: @escaping @Sendable (Int) -> Endpoint<Response>
    ) async -> [NetworkError?] {
        await withTaskGroup(of: NetworkError?.self, returning: [NetworkError?].self) { group in
            for number in 0..<count { group.addTask { await send(endpoint(number)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Sends a number of requests at once with a token that has expired, and returns when the server has judged all of
    /// them and the refresh has reached the server. No request is answered by a refresh before the gate opens.
    ///
    /// - Returns: The gate the refresh waits at, and the requests.
    func refuseAll(
        _ count: Int,
        at position: Gate.Position = .beforeHandler
    ) async throws -> (gate: Gate, requests: Task<[NetworkError?], Never>) {
        let gate = backend.hold("POST", refreshPath, at: position)
        let responses = backend.hold("GET", "/articles/*", at: .beforeResponse)
        try await backend.expireAccessTokens()
        let requests = Task { await sendAll(count) }
        await responses.arrivals(count)
        responses.open()
        await gate.arrivals(1)
        return (gate, requests)
    }

    /// Sends one request.
    ///
    /// - Returns: What it failed with, if it did.
    func send<Response>(_ endpoint: Endpoint<Response>) async -> NetworkError? {
        do {
            _ = try await network.send(endpoint)
            return nil
        } catch let error as NetworkError {
            return error
        } catch {
            return NetworkError(.interceptorFailed, cause: error)
        }
    }

    /// How many requests for articles the server has refused.
    var refusals: Int { backend.statistics.count("GET", "/articles/{id}", status: 401) }

    /// Prints what the server counted.
    func report(_ scenario: String, failures: Int) {
        let counts = backend.statistics
        note(
            "\(scenario): \(counts.requests) requests, \(refusals) refused, \(counts.refreshes.received) refreshes, "
                + "\(events.endings.count) endings, \(failures) failures")
    }
}

extension Stage.Handler {
    fileprivate func make(
        _ backend: DevBackend,
        network: NetworkClient,
        replay: ReplayTolerance
    ) -> any TokenRefreshHandler {
        let field = replay == .sameKey ? "Idempotency-Key" : nil
        switch self {
        case .rest:
            return RESTTokenRefreshHandler(
                network: network,
                replayTolerance: replay,
                idempotencyKeyField: field,
                logoutAffectsSessionOnly: true
            )
        case .oauth2:
            let server = backend.serverDescription
            let client = backend.configuration.oauth2Client
            return OAuth2TokenRefreshHandler(
                tokenEndpoint: server.tokenEndpoint,
                revocationEndpoint: server.revocationEndpoint,
                client: .basic(id: client.id, secret: client.secret ?? ""),
                network: network,
                replayTolerance: replay,
                idempotencyKeyField: field,
                revocationAffectsSessionOnly: true
            )
        }
    }
}

/// Clocks that run with the system's, as a user has set them.
struct SetClock: TimeSource {
    let offset: TimeInterval
    private let system = SystemTimeSource()

    init(offset: TimeInterval) {
        self.offset = offset
    }

    var uptime: Duration { system.uptime }
    var date: Date { system.date + offset }
    func sleep(until deadline: Duration) async throws { try await system.sleep(until: deadline) }
}
