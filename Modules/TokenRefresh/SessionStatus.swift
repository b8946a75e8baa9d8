public import AuthInterface
public import Foundation

/// What the engine knows of a session now, for a support screen or a status command (G24). It holds no token.
public struct SessionStatus: Sendable, Hashable {
    /// The state.
    public internal(set) var state: SessionState = .unknown

    /// How many refreshes lie between the sign-in and the tokens in use.
    public internal(set) var generation: Int?

    /// Whether there is a refresh token.
    public internal(set) var isRefreshable = false

    /// Whether a refresh is under way.
    public internal(set) var isRefreshing = false

    /// When the access token expires, on the server's clock. `nil`: not known.
    public internal(set) var expiresAt: Date?

    /// When this process last refreshed. `nil`: not yet.
    public internal(set) var lastRefresh: Date?

    /// Why the last refresh failed. `nil`: it succeeded, or there was none.
    public internal(set) var lastFailure: TokenRefreshError?

    /// Whether the store holds what it should.
    public internal(set) var isStored = true

    /// Why the store last failed. `nil`: it works.
    public internal(set) var storeFailure: TokenStoreError?

    /// How the last session ended, as far as this process or the shared store knows.
    public internal(set) var lastEnding: SignOutReason?
}
