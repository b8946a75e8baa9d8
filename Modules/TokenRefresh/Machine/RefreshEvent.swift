import AuthInterface
import Foundation

/// What the store holds, as a read has found it.
typealias StoreResult = Result<StoredSession, TokenStoreError>

/// What a read shows: the store, and the journal beside it (G30).
struct StoreReading: Sendable {
    var result: StoreResult
    /// Why the tokens in the store are to end, or why it holds nothing.
    var ending: SignOutReason?
    /// The highest ordinal that the journal names.
    var noted: SessionOrdinal?
}

typealias CallResult = Result<TokenRefreshResult, TokenRefreshError>

/// An input of the machine. Large values are in boxes: an event travels through some tasks and closures.
enum RefreshEvent: Sendable {
    case requested(CallerRequest, WaiterID)
    case waiterCancelled(WaiterID)
    indirect case signIn(TokenRefreshResult, SessionID, WaiterID)
    /// Of a user who is signed in (G32).
    indirect case stepUp(TokenRefreshResult, SessionID, WaiterID)
    indirect case signOut(SignOutReason, WaiterID)
    case serverDateNoted(Date)

    /// A shared store reports that it may have changed.
    case storeChanged
    /// The system is about to suspend the process.
    case suspensionNear

    /// The store was read. `ownerMayCall`: whether the owner of a stored intent may still be calling (rule 4).
    indirect case read(ReadPurpose, StoreReading, ownerMayCall: Bool)
    indirect case lease(LeaseEvent)
    indirect case wrote(version: Int, WriteOutcome)
    /// The end of a session is noted in another place, before the store has it: it lasts (G30).
    case noted(version: Int)
    /// No byte of a call was written, and none will be (G28).
    indirect case callNotMade(AttemptID, TokenRefreshError)
    indirect case responded(AttemptID, base: TokenBundle, CallResult)
    case timerFired(RefreshTimer)
}

enum LeaseEvent: Sendable {
    /// `identity`: the name of the lease, for the intents that are recorded under it.
    case taken(AttemptID, identity: String?)
    case failed(AttemptID, TokenStoreError)
    /// Another process has the lease for which an attempt waits.
    case held(by: LeaseHolder)
    /// Another process may have the lease.
    case lost(AttemptID)
}

enum CallerRequest: Hashable, Sendable {
    /// A token for a request that starts.
    case token
    /// A token in place of a refused one. In a box: a crowd waits with one each.
    indirect case replacement(TokenRefusal)
    /// A refresh, independent of the expiry.
    case refresh
    /// The state, once the store has been read.
    case restore
    /// The end of all work under way.
    case settle
}

enum ReadPurpose: Hashable, Sendable {
    /// The first read.
    case load
    /// Under the lease, before a call; or after the server's rejection.
    case attempt(AttemptID)
    /// Another process may have changed it.
    case check
    /// Before a sign-in takes its ordinal, or a sign-out (rule 10).
    case order
}

enum WriteOutcome: Hashable, Sendable {
    /// The content is stored. `replaced` is the bundle before it.
    case written(replaced: TokenBundle?)
    /// The store holds content that the write must not replace, and is unchanged.
    case superseded(by: StoredSession)
    case failed(TokenStoreError)

    /// The tokens that the write has found, and left.
    var found: TokenBundle? { if case .superseded(.active(let bundle)) = self { bundle } else { nil } }
}

/// A timer of the machine. One that fires for something that has ended is ignored.
enum RefreshTimer: Hashable, Sendable {
    /// The waiters of an attempt fail as unavailable.
    case deadline(AttemptID)
    /// The waiters of an attempt that have waited since before it started fail as unavailable.
    case waiterDeadline
    /// A call is cancelled.
    case callLimit(AttemptID)
    /// A call that did not end when it was cancelled is abandoned.
    case abandonment(AttemptID)
    case cooldown
    case writeDeadline(version: Int)
    case storeRetry
    case reload
    case loadDeadline
    case checkDeadline
}

/// An output of the machine. The shell runs the actions in this order and reports their results as events. Large values
/// are in boxes: a burst of responses is a long list of actions.
enum RefreshAction: Sendable {
    // Store. Each runs on its own; the machine starts the next one when it may.
    case read(ReadPurpose)
    case lease(AttemptID)
    case release(AttemptID)
    indirect case write(version: Int, StoreContent)

    // Server.
    /// `startBefore`: when no byte of it may be written any more (G28).
    indirect case call(AttemptID, base: TokenBundle, TokenRefreshRequest, startBefore: Duration)
    case cancelCall(AttemptID)
    /// Its session has ended: a call of which no byte was written is not made any more (G28).
    case withdrawCall(AttemptID)
    /// `besideAnother`: another session is signed in, so the handler must affect this one only (G9).
    indirect case revoke(TokenBundle, besideAnother: Bool)

    /// The session has ended: the key to which its tokens were bound is deleted (G34).
    indirect case releaseKey(TokenBinding)

    // Clock.
    case startTimer(RefreshTimer, at: Duration)
    case stopTimer(RefreshTimer)

    // Callers and observers.
    case respond(WaiterID, RefreshResponse)
    indirect case publish(SessionState)
    indirect case report(SessionEvent)
}

/// The response to a caller. Each caller gets exactly one. In a box, as a crowd gets a list of them.
indirect enum RefreshResponse: Sendable {
    case token(SessionToken)
    case state(SessionState)
    case done
    case failed(AuthenticationError)
    case cancelled
}
