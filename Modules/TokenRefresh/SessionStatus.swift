public import AuthInterface
public import Foundation

/// The current state of a session, for a support screen or a status command (G24). It holds no token.
public struct SessionStatus: Sendable, Hashable {
    /// The published state.
    public internal(set) var state: SessionState = .unknown

    /// The number of refreshes since the sign-in. `nil`: no user is signed in.
    public internal(set) var generation: Int?

    /// Whether the session has a refresh token.
    public internal(set) var isRefreshable = false

    /// Whether a refresh is under way.
    public internal(set) var isRefreshing = false

    /// When the access token expires, on the server's clock. `nil`: not known.
    public internal(set) var expiresAt: Date?

    /// When this process last refreshed. `nil`: not yet.
    public internal(set) var lastRefresh: Date?

    /// Why the last refresh failed. `nil`: it succeeded, or there was none.
    public internal(set) var lastFailure: TokenRefreshError?

    /// What the server demands of the user before it issues tokens again (G32): the session is kept, and goes on after
    /// a step-up. `nil`: nothing.
    public internal(set) var userAction: StepUpChallenge?

    /// The process that keeps this one from refreshing, as the last attempt has found it: it has the lease of the
    /// store, or may still be calling. If it is stopped, no other process refreshes until it continues or ends. `nil`:
    /// there is none, or the store does not know it.
    public internal(set) var leaseHolder: LeaseHolder?

    /// Whether the newest content is stored.
    public internal(set) var isStored = true

    /// The last failure of the store. `nil`: its last operation succeeded.
    public internal(set) var storeFailure: TokenStoreError?

    /// Whether a session has ended, and the store may still hold its tokens: the store has not taken the sign-out yet.
    public internal(set) var isSignOutPending = false

    /// The last failure of the journal (G30). `nil`: its last operation succeeded, or there is none.
    public internal(set) var journalFailure: TokenStoreError?

    /// Whether the store reports the changes of other processes at once. `false`: it cannot now, as where the system's
    /// limit of watches is reached, and is checked every few seconds.
    public internal(set) var isWatched = true

    /// The reason of the last ending that this process has seen, its own or another process's. `nil`: none.
    public internal(set) var lastEnding: SignOutReason?
}
