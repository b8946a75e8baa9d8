import AuthInterface
import Foundation

/// An input of a follower's machine.
enum FollowerEvent: Sendable {
    /// A caller asks for a token, or for the state.
    case requested(CallerRequest, WaiterID)
    case waiterCancelled(WaiterID)
    /// The source may have changed.
    case changed
    /// The source has not been read within its limit. The read goes on.
    case readIsLate(TokenStoreError)
    indirect case read(StoreResult)
    /// The application has handed in what it received from the owner.
    indirect case given(StoredSession)
    case serverDateNoted(Date)
    case timerFired(FollowerTimer)
}

/// An output of a follower's machine. There is none that calls a server or writes to a store (G29).
enum FollowerAction: Sendable {
    /// Reads the source. One read is under way at most.
    case read
    /// A request begins to wait for a newer bundle, and none has waited before it.
    case bundleNeeded
    indirect case respond(WaiterID, RefreshResponse)
    indirect case publish(SessionState)
    case startTimer(FollowerTimer, at: Duration)
    case stopTimer(FollowerTimer)
}

/// A timer of a follower's machine.
enum FollowerTimer: Hashable, Sendable {
    /// The request that has waited for the longest time fails.
    case bundleWait
    /// The source is read again after a failure.
    case polling
}
