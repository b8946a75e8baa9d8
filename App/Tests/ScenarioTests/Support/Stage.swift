import AuthInterface
import DataAPI
import DevBackend
import Foundation
import NIOConcurrencyHelpers
import NetworkCore
import Storage
import TokenRefresh

/// One server, and one app that talks to it over real sockets. What happened is what the server counted.
struct Stage: Sendable {
    let backend: DevBackend
    let store: any TokenStore
    let session: TokenRefreshCoordinator
    let network: AuthenticatedNetworkClient
    let auth: AuthService
    let events: EventLog

    /// Plays a scenario: starts the server, puts the app together, signs ada in, and stops the server at the end.
    static func play<Result>(
        _ configure: (inout DevBackend.Configuration) -> Void = { _ in },
        authentication: AuthenticationPolicy = AuthenticationPolicy(),
        policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        time: any TimeSource = SystemTimeSource(),
        _ body: (Stage) async throws -> Result
    ) async throws -> Result {
        var configuration = DevBackend.Configuration()
        configure(&configuration)
        return try await DevBackend.withServer(configuration) { backend in
            let stage = Stage(backend, authentication: authentication, policy: policy, time: time)
            try await stage.signIn("ada")
            return try await body(stage)
        }
    }

    private init(
        _ backend: DevBackend,
        authentication: AuthenticationPolicy,
        policy: TokenRefreshPolicy,
        time: any TimeSource
    ) {
        self.backend = backend
        // As many connections as there are requests: what a gate of the server holds must not keep others from it.
        let transport = URLSessionTransport(connectionsPerHost: 256)
        let open = NetworkClient(
            baseURL: backend.baseURL, transport: transport, interceptors: [RetryPolicy.standard])
        let handler = RESTTokenRefreshHandler(network: open)
        let events = EventLog()
        self.events = events
        store = MemoryTokenStore()
        session = TokenRefreshCoordinator(
            store: store, handler: handler, revocation: handler, policy: policy, time: time,
            observer: { events.note($0) })
        network = open.authenticated(by: session, policy: authentication)
        auth = AuthService(open: open, network: network, session: session)
    }

    func signIn(_ user: String) async throws {
        let provider = backend.configuration.provider
        let now = backend.configuration.now()
        let token = try await provider.token(for: "apple", subject: user, name: user, expiresAt: now + 600)
        try await auth.socialLogin(.apple, token: token)
    }

    /// Sends a number of requests at once.
    ///
    /// - Returns: What each one failed with; `nil` for those that did not.
    func sendAll(_ count: Int) async -> [NetworkError?] {
        await withTaskGroup(of: NetworkError?.self, returning: [NetworkError?].self) { group in
            for number in 0..<count {
                group.addTask { await send(.article(Article.ID(rawValue: Int64(1 + number % 12)))) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Sends a number of requests at once with a token that has expired, and goes on when the server has judged all of
    /// them and the refresh has reached the server. Nobody has heard of a refresh before the gate opens.
    ///
    /// - Returns: The gate the refresh waits at, and the requests.
    func refuseAll(
        _ count: Int,
        at position: Gate.Position = .beforeHandler
    ) async throws -> (gate: Gate, requests: Task<[NetworkError?], Never>) {
        let gate = backend.hold("POST", "/auth/refresh", at: position)
        let answers = backend.hold("GET", "/articles/*", at: .beforeAnswer)
        try await backend.expireAccessTokens()
        let requests = Task { await sendAll(count) }
        await answers.arrivals(count)
        answers.open()
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
        print(
            "\(scenario): \(counts.requests) requests, \(refusals) refused, \(counts.refreshes.received) refreshes, "
                + "\(events.endings.count) endings, \(failures) failures")
    }
}

/// What the engine reported, for tests to wait for.
final class EventLog: Sendable {
    private struct State {
        var events: [SessionEvent] = []
        var watchers: [(isMeant: @Sendable (SessionEvent) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = NIOLockedValueBox(State())

    func note(_ event: SessionEvent) {
        let awaited = state.withLockedValue { state in
            state.events.append(event)
            let awaited = state.watchers.filter { $0.isMeant(event) }
            state.watchers.removeAll { $0.isMeant(event) }
            return awaited
        }
        for watcher in awaited { watcher.continuation.resume() }
    }

    /// Waits until the engine has reported an event.
    func wait(for isMeant: @escaping @Sendable (SessionEvent) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLockedValue { state in
                if state.events.contains(where: isMeant) { return true }
                state.watchers.append((isMeant, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// The endings of sessions, in order.
    var endings: [SignOutReason] {
        state.withLockedValue(\.events).compactMap { if case .signedOut(let reason) = $0 { reason } else { nil } }
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
