public import AuthInterface
public import DataAPI
public import Foundation
public import Imaging
public import NetworkCore
public import TokenRefresh

/// The object graph of the application.
///
/// This is the only place where the modules meet.
public struct AppGraph: Sendable {
    /// The configuration of the graph.
    public let configuration: AppConfiguration

    /// The store of the session's tokens.
    public let store: any TokenStore

    /// The session, which provides the tokens of requests.
    public let session: any AuthSession & TokenProvider

    /// Sends requests without a token.
    public let unauthenticatedNetwork: NetworkClient

    /// Sends requests with the session's token.
    public let network: any NetworkService

    /// Sign-in and sign-out.
    public let auth: AuthService

    /// The articles.
    public let articles: ArticleService

    private let coordinator: TokenRefreshCoordinator
    private let transport: any HTTPTransport

    /// Creates the graph. Nothing is read or sent yet.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - transport: Performs the exchanges.
    ///   - observers: Are notified of every call, the refresh included.
    ///   - observer: Is notified of the session's events, on any thread. It must not block.
    public init(
        _ configuration: AppConfiguration,
        transport: any HTTPTransport = PlatformTransport(),
        observers: [any NetworkObserver] = [],
        observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        let url = configuration.baseURL
        let unauthenticated = NetworkClient(
            baseURL: url, transport: transport, format: .envelope, interceptors: [RetryPolicy.standard],
            observers: observers)
        let store = configuration.makeStore()
        // To refresh in another way, replace this handler.
        let handler = configuration.refresh.makeHandler(
            for: url, network: unauthenticated, replay: configuration.replay,
            expiredStatus: configuration.expiredStatus, tokenFields: configuration.tokenFields)
        let session = TokenRefreshCoordinator(store: store, handler: handler, observer: observer)
        let network = unauthenticated.authenticated(by: session, policy: configuration.authentication)

        self.configuration = configuration
        self.store = store
        self.transport = transport
        self.session = session
        coordinator = session
        unauthenticatedNetwork = unauthenticated
        self.network = network
        auth = AuthService(unauthenticated: unauthenticated, network: network, session: session)
        articles = ArticleService(network: network)
    }

    /// The current state of the session, for a status command or a support screen.
    public var report: SessionReport { SessionReport(coordinator.status) }

    /// Waits until the background work has ended: a refresh, a write to the store, a revocation.
    ///
    /// A refresh that takes longer continues at the next start: the store holds its intent, unless it is in memory.
    ///
    /// - Parameter limit: The longest time to wait.
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the tokens of a session that has expired could
    ///   not be deleted.
    public func settle(within limit: Duration = .seconds(10)) async throws {
        await coordinator.settle(within: limit)
        let status = coordinator.status
        guard case .signedOut(.expired) = status.state, !status.isStored else { return }
        throw AuthenticationError(.storeUnavailable, cause: status.storeFailure)
    }

    /// Waits as ``settle(within:)`` does, and then closes the connections. Call it before the program ends.
    ///
    /// The order matters: a refresh or a revocation that is under way needs its connection. A transport other than
    /// ``PlatformTransport`` stays as it is.
    ///
    /// - Parameter limit: The longest time to wait for the background work.
    /// - Throws: What ``settle(within:)`` throws, after the connections were closed.
    public func shutdown(within limit: Duration = .seconds(10)) async throws {
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await settle(within: limit))
        } catch {
            outcome = .failure(error)
        }
        await (transport as? PlatformTransport)?.shutdown()
        try outcome.get()
    }

    /// Creates a fitter with the platform's codec: at most 1024×1024 pixels and 5 MB.
    ///
    /// - Returns: The fitter.
    /// - Throws: `ImagingError` with code `codecUnavailable` in a build without a codec.
    public static func photoFitter() throws -> PhotoFitter {
        PhotoFitter(codec: try PlatformCodec.make())
    }
}

/// The state of the session for a status command or a support screen, without tokens (G24).
public struct SessionReport: Sendable, Hashable {
    /// The state.
    public let state: SessionState

    /// The access token's expiry, on the server's clock. `nil`: not known.
    public let expiresAt: Date?

    /// Whether there is a refresh token.
    public let isRefreshable: Bool

    /// The end of the last session. `nil`: not known, or there was no session.
    public let lastEnding: SignOutReason?

    /// The failure of the last refresh. `nil`: it succeeded, or there was no refresh.
    public let refreshFailure: TokenRefreshError?

    /// The last failure of the store. `nil`: the store works.
    public let storeFailure: TokenStoreError?

    /// The process that keeps this one from refreshing. `nil`: none, or not known.
    public let leaseHolder: LeaseHolder?

    init(_ status: SessionStatus) {
        state = status.state
        expiresAt = status.expiresAt
        isRefreshable = status.isRefreshable
        lastEnding = status.lastEnding == .never ? nil : status.lastEnding
        refreshFailure = status.lastFailure
        storeFailure = status.storeFailure
        leaseHolder = status.leaseHolder
    }
}
