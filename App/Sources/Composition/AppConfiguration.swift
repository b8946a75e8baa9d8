public import AuthInterface
public import Foundation
import NetworkCore

/// The configuration of the application: server, store and refresh.
public struct AppConfiguration: Sendable {
    /// The default base URL: that of `articles serve`.
    public static let defaultBaseURL = "http://127.0.0.1:8080/api/v1"

    /// The name of the application's folders.
    public static let applicationName = "articles"

    /// The base URL of the API.
    public var baseURL: URL

    /// Where the session is stored.
    public var store: StoreChoice

    /// How tokens are refreshed.
    public var refresh: RefreshChoice

    /// Which replays of a refresh the server tolerates after a lost response (G12).
    ///
    /// The default is `.sameKey`, which is part of the contract of the articles API. A replay that the server does not
    /// tolerate ends the session, so a server that ignores idempotency keys needs `.none`.
    public var replay: ReplayTolerance

    /// The status of the response to an expired access token.
    public var expiredStatus: Int

    /// Creates a configuration. Each parameter is the property of its name.
    public init(
        baseURL: URL,
        store: StoreChoice = .file(folder: nil),
        refresh: RefreshChoice = .rest,
        replay: ReplayTolerance = .sameKey,
        expiredStatus: Int = 401
    ) {
        self.baseURL = baseURL
        self.store = store
        self.refresh = refresh
        self.replay = replay
        self.expiredStatus = expiredStatus
    }

    var authentication: AuthenticationPolicy {
        AuthenticationPolicy(expiredStatuses: [expiredStatus])
    }
}
