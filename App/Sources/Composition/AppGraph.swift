package import AuthInterface
package import DataAPI
package import Foundation
package import Imaging
package import NetworkCaching
package import NetworkCore
package import TokenRefresh

/// The object graph of the application: the only place where the modules meet.
package struct AppGraph: Sendable {
    package let configuration: AppConfiguration
    package let store: any TokenStore
    /// The session, which provides the tokens of requests.
    package let session: any AuthSession & TokenProvider
    package let unauthenticatedNetwork: NetworkClient
    /// Sends requests with the session's token.
    package let network: any NetworkService
    package let auth: AuthService
    package let articles: ArticleService

    /// The store, if other processes share it. `nil`: it is in memory.
    package var sharedStore: (any SharedTokenStore)? {
        configuration.store == .memory ? nil : store as? any SharedTokenStore
    }

    private let coordinator: TokenRefreshCoordinator
    private let transport: any HTTPTransport
    private let cache: ResponseCache?
    private let deletion: ResponseDeletion?

    /// Creates the graph. Nothing is read or sent yet.
    ///
    /// The cache keeps responses for the session, until its end; no other graph uses it. All `observers` are notified
    /// of every call, the refresh included, and `observer` of the session's events, on any thread: it must not block.
    package init(
        _ configuration: AppConfiguration, transport: any HTTPTransport = PlatformTransport.make(),
        cache: ResponseCache? = nil, policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        observers: [any NetworkObserver] = [], observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        let url = configuration.baseURL
        func client(_ transport: any HTTPTransport) -> NetworkClient {
            NetworkClient(
                baseURL: url, transport: transport, format: .envelope, interceptors: [RetryPolicy.standard],
                observers: observers)
        }
        let unauthenticated = client(transport)
        let store = configuration.makeStore()
        // To refresh in another way, replace this handler.
        let handler = configuration.makeHandler(network: unauthenticated)
        let session = TokenRefreshCoordinator(
            store: store, handler: handler, journal: configuration.makeJournal(), policy: policy, observer: observer)
        let network = client(cache.map { CachingTransport(transport, cache: $0) } ?? transport)
            .authenticated(by: session, policy: configuration.authentication)

        self.configuration = configuration
        self.store = store
        self.transport = transport
        self.cache = cache
        deletion = cache.map { ResponseDeletion(in: $0, atEndOf: session) }
        self.session = session
        coordinator = session
        unauthenticatedNetwork = unauthenticated
        self.network = network
        auth = AuthService(unauthenticated: unauthenticated, network: network, session: session)
        articles = ArticleService(network: network)
    }

    package var report: SessionReport { SessionReport(coordinator.status) }

    /// The articles that the cache keeps for a session. They need neither a connection nor a valid token. `nil`: the
    /// graph has no cache.
    package func storedArticles(of session: SessionID) -> ArticleService? {
        cache.map { cache in
            let network = cache.network(
                of: session, configuration: unauthenticatedNetwork.configuration, policy: configuration.authentication)
            return ArticleService(network: network)
        }
    }

    /// Whether the store reports the changes of other processes now: the stream of one that cannot ends at once.
    package func storeReportsChanges() async -> Bool {
        guard let changes = sharedStore?.changes else { return false }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in changes {}
                return false
            }
            group.addTask {
                try? await Task.sleep(for: .milliseconds(100))
                return true
            }
            let isLasting = await group.next() ?? true
            group.cancelAll()
            return isLasting
        }
    }

    /// Waits until the background work has ended: a refresh, a write to the store, a revocation. If no user is signed
    /// in then, the responses that are kept of sessions are deleted, also those of an earlier process.
    ///
    /// It waits for ten seconds at most. A refresh that takes longer continues at the next start: the store holds its
    /// intent, unless it is in memory.
    ///
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the tokens of a session that has expired could
    ///   not be deleted.
    package func settle() async throws {
        await coordinator.settle(within: .seconds(10))
        let status = coordinator.status
        if case .signedOut = status.state { deleteStoredResponses() }
        guard case .signedOut(.expired) = status.state, !status.isStored else { return }
        throw AuthenticationError(.storeUnavailable, cause: status.storeFailure)
    }

    /// Deletes the responses of sessions that this process keeps, or that an earlier one has left.
    ///
    /// Those of a process that runs stay: it deletes them itself, because it sees the end of the session in the store.
    package func deleteStoredResponses() {
        (cache ?? configuration.existingCache)?.deleteResponsesOfSessions()
    }

    /// Waits as ``settle()`` does, and then closes the connections. Call it before the program ends.
    ///
    /// The order matters: a refresh or a revocation that is under way needs its connection. A transport other than that
    /// of ``PlatformTransport`` stays as it is.
    ///
    /// - Throws: What ``settle()`` throws, after the connections were closed.
    package func shutdown() async throws {
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await settle())
        } catch {
            outcome = .failure(error)
        }
        await deletion?.end()
        await PlatformTransport.shutdown(transport)
        try outcome.get()
    }

    /// Creates a fitter with the platform's codec: at most 1024×1024 pixels and 5 MB.
    ///
    /// - Throws: `ImagingError` with code `codecUnavailable` in a build without a codec.
    package static func photoFitter() throws -> PhotoFitter {
        PhotoFitter(codec: try PlatformCodec.make())
    }
}

/// Deletes the responses of a session at its end, until the last copy of the graph is released. The task has the
/// session and not the graph, so it keeps neither for longer.
private final class ResponseDeletion: Sendable {
    private let task: Task<Void, Never>

    init(in cache: ResponseCache, atEndOf session: any AuthSession) {
        task = Task { await cache.deleteResponses(atEndOf: session) }
    }

    deinit { task.cancel() }

    func end() async {
        task.cancel()
        await task.value
    }
}

/// The state of the session for a status command or a support screen, without tokens (G24).
package struct SessionReport: Sendable, Hashable {
    /// The access token's expiry, on the server's clock. `nil`: not known.
    package let expiresAt: Date?
    /// `nil`: not known, or there was no session.
    package let lastEnding: SignOutReason?
    /// `nil`: the last refresh succeeded, or there was none.
    package let refreshFailure: TokenRefreshError?
    /// What the server demands of the user before it renews the session (G32). `nil`: nothing.
    package let userAction: StepUpChallenge?
    /// `nil`: the store works.
    package let storeFailure: TokenStoreError?
    /// Whether a sign-out is still to be stored: the journal has it, and the next start completes it (G30).
    package let isSignOutPending: Bool
    /// `nil`: the journal works, or there is none.
    package let journalFailure: TokenStoreError?
    /// The process that keeps this one from refreshing. `nil`: none, or not known.
    package let leaseHolder: LeaseHolder?

    init(_ status: SessionStatus) {
        expiresAt = status.expiresAt
        lastEnding = status.lastEnding == .never ? nil : status.lastEnding
        refreshFailure = status.lastFailure
        userAction = status.userAction
        storeFailure = status.storeFailure
        isSignOutPending = status.isSignOutPending
        journalFailure = status.journalFailure
        leaseHolder = status.leaseHolder
    }
}
