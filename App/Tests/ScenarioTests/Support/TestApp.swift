import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import OAuth2Flows
import ProgramTesting
import Storage
import Testing
import TokenRefresh

import class ContractTesting.ManualTimeSource

extension TokenRefreshPolicy {
    /// The default, with limits that a busy machine does not reach.
    static let patient: TokenRefreshPolicy = {
        var policy = TokenRefreshPolicy()
        policy.deadline = TestApp.waitLimit
        policy.callLimit = TestApp.waitLimit * 2
        policy.storeDeadline = TestApp.waitLimit
        return policy
    }()
}

/// An application that sends requests to a server over real sockets. The server's counts are what tests check.
struct TestApp: Sendable {
    struct Setup: Sendable {
        var server = DevBackend.Configuration()
        var authentication = AuthenticationPolicy()
        var policy = TokenRefreshPolicy.patient
        var clock: any TimeSource = SystemTimeSource()
        var handler = Handler.rest
        var refusals: [RefreshRefusalRule] = []
        /// The replay tolerance that the handler declares. Only with `.sameKey` does the call have a key, because the
        /// server accepts a key in any case.
        var replay = ReplayTolerance.none
        /// More connections than a gate holds requests, so that other requests still reach the server.
        var connections = 256
        /// Remembers the session beside its store.
        var journal: (any SessionJournal)?
    }

    enum Handler: Sendable, CaseIterable { case rest, oauth2 }

    /// The limits of waits that a scenario is not about: a busy machine must not reach them.
    static let waitLimit: Duration = .seconds(600)

    /// The header of a JPEG of 16×16 pixels.
    static let photo = Data(
        [0xFF, 0xD8, 0xFF, 0xC0, 0x00, 0x0B, 0x08, 0x00, 0x10, 0x00, 0x10, 1, 1, 0x11, 0, 0xFF, 0xD9])

    let backend: DevBackend
    let setup: Setup
    let store: any TokenStore
    let session: TokenRefreshCoordinator
    let unauthenticated: NetworkClient
    let network: AuthenticatedNetworkClient
    let auth: AuthService
    let events: EventLog

    /// Starts a server and an application, signs ada in, runs the body, and stops the server.
    static func run(
        _ configure: (inout Setup) -> Void = { _ in }, _ body: (TestApp) async throws -> Void
    ) async throws {
        try await run(1, store: { _ in MemoryTokenStore() }, configure) { try await body($0[0]) }
    }

    /// Runs several applications as processes do: each has an engine and a file store of its own, over one folder. The
    /// first signs ada in, and the others restore the session from the store.
    static func run(
        processes count: Int, _ configure: (inout Setup) -> Void = { _ in }, _ body: ([TestApp]) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try await run(count, store: { _ in FileTokenStore(folder: folder.tokens) }, configure, body)
    }

    /// Runs an application with a journal in files, whose store can be made to fail. The first user is signed in.
    static func runWithJournal(
        _ body: (_ app: TestApp, _ store: FaultyTokenStore<FileTokenStore>, _ tokens: URL) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let store = FaultyTokenStore(FileTokenStore(folder: folder.tokens))
        let journal = FileSessionJournal(folder: folder.url.appendingPathComponent("journal"), storeName: "files")
        try await run(1, store: { _ in store }, { $0.journal = journal }) { apps in
            await apps[0].session.settle()
            try await body(apps[0], store, folder.tokens)
        }
    }

    /// The next process over a folder of tokens. As after a kill, the engine of the one before is not used again.
    func next(over tokens: URL) -> TestApp { TestApp(backend, setup, store: FileTokenStore(folder: tokens)) }

    /// Runs several applications over the given stores. The first signs ada in.
    static func run(
        _ count: Int, store: (Int) -> any TokenStore, _ configure: (inout Setup) -> Void = { _ in },
        _ body: ([TestApp]) async throws -> Void
    ) async throws {
        var setup = Setup()
        configure(&setup)
        // A server's clock does not stand still while the application's advances by minutes.
        if let clock = setup.clock as? ManualTimeSource { setup.server.now = { clock.date } }
        try await DevBackend.withServer(setup.server) { [setup] backend in
            let apps = (0..<count).map { TestApp(backend, setup, store: store($0)) }
            try await apps[0].signIn("ada")
            for app in apps.dropFirst() { _ = try await app.session.restore() }
            try await body(apps)
        }
    }

    /// Creates the application as a process does when it starts.
    init(_ backend: DevBackend, _ setup: Setup, store: any TokenStore) {
        self.backend = backend
        self.setup = setup
        self.store = store
        let transport = ScenarioTransport.current.make(connections: setup.connections)
        var configuration = NetworkConfiguration(baseURL: backend.baseURL)
        configuration.format = .envelope
        configuration.timeout = Self.waitLimit
        configuration.deadline = Self.waitLimit
        unauthenticated = NetworkClient(
            configuration: configuration, transport: transport, interceptors: [RetryPolicy.standard])
        let events = EventLog()
        self.events = events
        session = TokenRefreshCoordinator(
            store: store, handler: setup.makeHandler(backend, network: unauthenticated), journal: setup.journal,
            policy: setup.policy, clock: setup.clock, observer: { events.note($0) })
        network = unauthenticated.authenticated(by: session, policy: setup.authentication)
        auth = AuthService(unauthenticated: unauthenticated, network: network, session: session)
    }

    var refreshPath: String { setup.handler == .rest ? "/auth/refresh" : "/oauth2/token" }

    func signIn(_ user: String) async throws {
        let expiry = backend.configuration.now() + 600
        let token = try DevelopmentProvider().token(for: "apple", subject: user, name: user, expiresAt: expiry)
        try await auth.socialLogin(.apple, token: token)
    }

    func sendAll(_ count: Int) async -> [NetworkError?] {
        await sendAll(count) { .article(Article.ID(1 + $0 % 12)) }
    }

    /// Sends concurrent requests, and returns the error of each; `nil` for one that succeeded.
    func sendAll<Response: Sendable>(
        _ count: Int, _ endpoint: @escaping @Sendable (Int) -> Endpoint<Response>
    ) async -> [NetworkError?] {
        await withTaskGroup(of: NetworkError?.self, returning: [NetworkError?].self) { group in
            for number in 0..<count { group.addTask { await send(endpoint(number)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Sends concurrent requests with an expired token, and returns when the server has refused all of them and the
    /// refresh has reached the server. Returns the gate that holds the refresh, and the requests.
    func refuseAll(
        _ count: Int, at position: Gate.Position = .beforeHandler
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

    /// Sends one request, and returns its error; `nil` if it succeeded.
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

    var refusals: Int { backend.statistics.count("GET", "/articles/{id}", status: 401) }
}

extension [NetworkError?] {
    func expectSuccess(sourceLocation: SourceLocation = #_sourceLocation) {
        let failures = compactMap(\.self)
        #expect(failures.isEmpty, "\(failures.first.map { "\($0)" } ?? "")", sourceLocation: sourceLocation)
    }

    func expectAll(failWith code: AuthenticationError.Code, sourceLocation: SourceLocation = #_sourceLocation) {
        let others = filter { $0?.authentication?.code != code }
        #expect(others.isEmpty, "\(others.map { "\(String(describing: $0))" })", sourceLocation: sourceLocation)
    }
}

extension TestApp.Setup {
    fileprivate func makeHandler(_ backend: DevBackend, network: NetworkClient) -> any TokenRefreshHandler {
        let field = replay == .sameKey ? "Idempotency-Key" : nil
        switch handler {
        case .rest:
            return RESTTokenRefreshHandler(
                network: network, replayTolerance: replay, idempotencyKeyField: field, format: .envelope,
                logoutAffectsSessionOnly: true)
        case .oauth2:
            let server = backend.serverDescription
            let client = backend.configuration.oauth2Client
            var oauth2 = OAuth2TokenRefreshHandler(
                tokenEndpoint: server.tokenEndpoint, revocationEndpoint: server.revocationEndpoint,
                client: .basic(id: client.id, secret: client.secret ?? ""), network: network, replayTolerance: replay,
                idempotencyKeyField: field, revocationAffectsSessionOnly: true)
            oauth2.refusals = refusals
            return oauth2
        }
    }
}
