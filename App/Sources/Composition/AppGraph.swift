public import AuthInterface
public import DataAPI
public import Imaging
public import NetworkCore
import Storage
public import TokenRefresh

/// Everything the application is made of, put together.
///
/// This is the one place where the modules meet. Nobody else knows more than two of them.
public struct AppGraph: Sendable {
    /// What it was made from.
    public let configuration: AppConfiguration

    /// Where the session is kept.
    public let store: any TokenStore

    /// The session: who is signed in, and the tokens.
    public let session: any AuthSession & TokenProvider

    /// Sends what needs no token.
    public let open: NetworkClient

    /// Sends what needs one.
    public let network: any NetworkService

    /// Signing in and out.
    public let auth: AuthService

    /// The articles.
    public let articles: ArticleService

    private let coordinator: TokenRefreshCoordinator

    /// Puts the application together. Nothing is read or sent yet.
    ///
    /// - Parameters:
    ///   - configuration: Which server, which store, which refresh.
    ///   - transport: Performs the exchanges.
    ///   - observers: Are notified of every call, the refresh included.
    ///   - observer: Is notified of what becomes of the session. It is called on any thread and must not block.
    public init(
        _ configuration: AppConfiguration,
        transport: any HTTPTransport = URLSessionTransport(),
        observers: [any NetworkObserver] = [],
        observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        let url = configuration.baseURL
        let open = NetworkClient(
            baseURL: url, transport: transport, interceptors: [RetryPolicy.standard], observers: observers)
        let store = configuration.store.make(for: url)
        // Swap the refresh implementation here.
        let refresh = configuration.refresh.make(for: url, network: open, replay: configuration.replay)
        let session = TokenRefreshCoordinator(store: store, handler: refresh, observer: observer)
        let network = open.authenticated(by: session, policy: configuration.authentication)

        self.configuration = configuration
        self.store = store
        self.session = session
        coordinator = session
        self.open = open
        self.network = network
        auth = AuthService(unauthenticated: open, network: network, session: session)
        articles = ArticleService(network: network)
    }

    /// What is known of the session now.
    public var report: SessionReport { SessionReport(coordinator.status) }

    /// Waits until no work is under way, for a program that ends right after its work: a refresh that has started in
    /// the background, a write to the store, a revocation. With nothing under way it returns at once.
    ///
    /// A refresh that takes longer is not lost: the store holds its record, and the next start sends it again.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the tokens of a session that has expired could
    ///   not be deleted.
    public func settle(within limit: Duration = .seconds(10)) async throws {
        await coordinator.settle(within: limit)
        let status = coordinator.status
        guard case .signedOut(.expired) = status.state, !status.isStored else { return }
        throw AuthenticationError(.storeUnavailable, cause: status.storeFailure)
    }

    /// Makes photos fit for upload, with the platform's codec.
    ///
    /// - Returns: The fitter, at most 1024×1024 pixels and 5 MB.
    /// - Throws: `ImagingError` with code `codecUnavailable` in a build without a codec.
    public static func photoFitter() throws -> PhotoFitter {
        PhotoFitter(codec: try PlatformCodec.make())
    }
}
