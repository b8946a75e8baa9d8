public import AuthInterface
public import Foundation
import NetworkCore
public import OAuth2Flows

/// Which server, which store, which refresh.
public struct AppConfiguration: Sendable {
    /// Where the articles are if nobody says otherwise: where `articles serve` listens.
    public static let defaultBaseURL = "http://127.0.0.1:8080/api/v1"

    /// Where the API is.
    public var baseURL: URL

    /// Where the session is kept.
    public var store: StoreChoice

    /// How tokens are renewed.
    public var refresh: RefreshChoice

    /// What the server forgives when a refresh token comes again because a response was lost (G12).
    ///
    /// The default is `.sameKey`, which is part of the contract of the articles API. A second use that the server does
    /// not forgive ends the session, so a server that ignores idempotency keys needs `.none`.
    public var replay: ReplayTolerance

    /// The status that means "the access token is no longer good" (row T7).
    public var expiredStatus: Int

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - baseURL: Where the API is.
    ///   - store: Where the session is kept.
    ///   - refresh: How tokens are renewed.
    ///   - replay: What the server forgives when a refresh token comes again because a response was lost.
    ///   - expiredStatus: The status that means "the access token is no longer good".
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

/// Where the session is kept.
public enum StoreChoice: Sendable, Hashable {
    /// In a file of this user, in a folder; `nil` is the usual one of the system.
    case file(folder: URL?)

    /// In memory: gone with the process.
    case memory
}

/// How tokens are renewed.
public enum RefreshChoice: Sendable, Hashable {
    /// By `POST auth/refresh`.
    case rest

    /// By `POST oauth2/token`, as this client.
    case oauth2(OAuth2Client)
}
