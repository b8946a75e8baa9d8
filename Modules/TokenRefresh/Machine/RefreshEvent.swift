import AuthInterface
import Foundation

/// Somebody who waits for an answer of the machine.
struct WaiterID: Hashable, Sendable { let number: Int }

/// One try to refresh.
struct AttemptID: Hashable, Sendable { let number: Int }

/// An instant on both clocks: the one nobody can set, and the one anybody can.
struct Instant: Sendable {
    let uptime: Duration
    let date: Date
}

/// What the machine is told.
enum RefreshEvent: Sendable {
    case tokenAsked(WaiterID)
    case tokenRefused(SessionToken, WaiterID)
    case restoreAsked(WaiterID)
    case waiterCancelled(WaiterID)
    case signIn(TokenRefreshResult, SessionID, WaiterID)
    case signOut(WaiterID)
    case serverDateNoted(Date)

    case loaded(Result<TokenBundle?, TokenStoreError>)
    case leased(AttemptID)
    case leaseFailed(AttemptID, TokenStoreError)
    case reread(AttemptID, Result<TokenBundle?, TokenStoreError>)
    case answered(AttemptID, base: TokenBundle, Result<TokenRefreshResult, TokenRefreshError>)
    case wrote(version: Int, WriteOutcome)
    case timerFired(RefreshTimer)
}

/// How a write to the store ended.
enum WriteOutcome: Sendable {
    case written
    /// The store held something that the write must not replace, and does still.
    case superseded(by: TokenBundle?)
    case failed(TokenStoreError)
}

/// An alarm the machine asked for. One that is no longer meant is ignored when it rings.
enum RefreshTimer: Hashable, Sendable {
    case deadline(AttemptID)
    case cooldown(SessionID)
    case writeDeadline(version: Int)
    case storeRetry
    case reload
    case loadDeadline
}
