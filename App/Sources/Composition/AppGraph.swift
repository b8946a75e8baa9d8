public import AuthInterface
public import DataAPI
public import Imaging
public import NetworkCore
import Storage
import TokenRefresh

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

    /// Puts the application together. Nothing is read or sent yet.
    ///
    /// - Parameters:
    ///   - configuration: Which server, which store, which refresh.
    ///   - transport: Performs the exchanges.
    ///   - observers: Hear of every call, the refresh included.
    public init(
        _ configuration: AppConfiguration,
        transport: any HTTPTransport = URLSessionTransport(),
        observers: [any NetworkObserver] = []
    ) {
        let url = configuration.baseURL
        let open = NetworkClient(
            baseURL: url, transport: transport, interceptors: [RetryPolicy.standard], observers: observers)
        let store = configuration.store.make(for: url)
        let refresh = configuration.refresh.make(for: url, network: open)  // swap the refresh implementation here
        let session = TokenRefreshCoordinator(
            store: store, handler: refresh, revocation: refresh, policy: configuration.refreshPolicy)
        let network = open.authenticated(by: session, policy: configuration.authentication)

        self.configuration = configuration
        self.store = store
        self.session = session
        self.open = open
        self.network = network
        auth = AuthService(open: open, network: network, session: session)
        articles = ArticleService(network: network)
    }

    /// Waits until the end of a session has reached the store, for programs that end right after their work.
    ///
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the tokens of the session that is over could
    ///   not be deleted.
    public func settle() async throws {
        guard case .signedOut(.expired) = session.state else { return }
        try await session.signOut()
    }

    /// Makes photos fit for upload, with the platform's codec.
    ///
    /// - Returns: The fitter, at most 1024×1024 pixels and 5 MB.
    /// - Throws: `ImagingError` with code `codecUnavailable` in a build without a codec.
    public static func photoFitter() throws -> PhotoFitter {
        PhotoFitter(codec: try PlatformCodec.make())
    }
}
