public import AuthInterface
public import Foundation
import TokenRefresh

/// What is known of the session now, for a status command or a support screen (G24). It holds no token.
public struct SessionReport: Sendable, Hashable {
    /// The state.
    public let state: SessionState

    /// When the access token expires, on the server's clock. `nil`: not known.
    public let expiresAt: Date?

    /// Whether there is a refresh token.
    public let isRefreshable: Bool

    /// How the last session ended, as far as this process or the store knows. `nil`: not known, or there was none.
    public let lastEnding: SignOutReason?

    /// Why the last refresh failed. `nil`: it succeeded, or there was none.
    public let refreshFailure: TokenRefreshError?

    /// Why the store last failed. `nil`: it works.
    public let storeFailure: TokenStoreError?

    init(_ status: SessionStatus) {
        state = status.state
        expiresAt = status.expiresAt
        isRefreshable = status.isRefreshable
        lastEnding = status.lastEnding == .never ? nil : status.lastEnding
        refreshFailure = status.lastFailure
        storeFailure = status.storeFailure
    }
}
