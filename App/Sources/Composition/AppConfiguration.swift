public import DataAPI
public import Foundation
import NetworkCore
import TokenRefresh

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

    /// The status that means "the access token is no longer good" (row T7).
    public var expiredStatus: Int

    /// Whether tokens are renewed in the background shortly before they expire (G3).
    ///
    /// A program that ends right after its work must not: ending in the middle of a refresh loses the answer, and with
    /// it the only refresh token the server still takes.
    public var refreshesAhead = true

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - baseURL: Where the API is.
    ///   - store: Where the session is kept.
    ///   - refresh: How tokens are renewed.
    ///   - expiredStatus: The status that means "the access token is no longer good".
    public init(
        baseURL: URL,
        store: StoreChoice = .file(folder: nil),
        refresh: RefreshChoice = .rest,
        expiredStatus: Int = 401
    ) {
        self.baseURL = baseURL
        self.store = store
        self.refresh = refresh
        self.expiredStatus = expiredStatus
    }

    var authentication: AuthenticationPolicy {
        AuthenticationPolicy(expiredStatuses: [expiredStatus])
    }

    var refreshPolicy: TokenRefreshPolicy {
        var policy = TokenRefreshPolicy()
        if !refreshesAhead { policy.ahead = .zero }
        return policy
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
