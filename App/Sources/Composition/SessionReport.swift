public import AuthInterface
public import Foundation
import TokenRefresh

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

    init(_ status: SessionStatus) {
        state = status.state
        expiresAt = status.expiresAt
        isRefreshable = status.isRefreshable
        lastEnding = status.lastEnding == .never ? nil : status.lastEnding
        refreshFailure = status.lastFailure
        storeFailure = status.storeFailure
    }
}
