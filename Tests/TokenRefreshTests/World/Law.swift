import AuthInterface

@testable import TokenRefresh

/// What must hold after every step, named by the guarantee it belongs to.
enum Law: String, Sendable {
    case singleFlight = "G1, G13: one refresh at a time for a session on a device"
    case expiredToken = "G3: no token is returned that is known to have expired"
    case ending = "G4: a session ends only after a rejection, a sign-out, or with nothing stored"
    case usable = "G4: no token is returned that a header field cannot carry"
    case oneEnding = "G5: a session ends once"
    case oneReason = "G5: every process sees the reason for which a session ended"
    case pause = "G6: no call before the pause that the server asked for is over"
    case mark = "G6: no call before the mark of the last failure is stored, or has failed"
    case service = "G6, G13: once all faults have ended, a session that the server honours is served"
    case leaving = "G7: a cancelled caller gets its response at once"
    case secondCall = "G8: no call with a refresh token while an earlier call with it is under way"
    case reuse = "G8, G12: a family revoked by re-use is explained by a lost response or a crash"
    case deadline = "G8: no caller waits longer than the deadlines allow"
    case growth = "G8, G26: a machine at rest keeps no waiters and no calls, and never keeps many timers"
    case backwards = "G9: a session in use never goes back to older tokens"
    case revival = "G9: what was deleted or replaced never comes back to the store"
    case revocation = "G9: tokens of the session in use are not revoked"
    case mustRevoke = "G9: the tokens of a session that its user has left are revoked"
    case order = "G9: a sign-in never replaces one that was asked for later"
    case otherSignIn = "G9: an end removes no session that it does not know, or that was asked for later"
    case persistence = "G11: no token is used before it is stored, unless the store fails"
    case rotation = "G12: no use of a refresh token whose successor is known or stored"
    case key = "G12: a refresh token keeps its idempotency key until a response has been applied"
    case keys = "G12: a server that honours keys never counts a second use of a refresh token as theft"
    case follows = "G13: a restored state is that of the shared store"
    case newest = "G12: the store ends up with the newest bundle"
    case health = "G13: a session that the server still honours is not ended"
    case lease = "G13: a process keeps the lease only while work is under way"
    case leased = "G13: no call is made without the lease, unless the process cannot know of its loss"
    case store = "G14: an unreadable store does not count as empty"
    case clock = "G2, G19: no refresh without an expiry, a refusal of the token in use, or a request"
    case life = "G19: the life of a token counts from the sending of the call that brought it"
    case subject = "G31: the tokens of another user are not used, stored or revoked"
    case noToken = "G22: no call without a refresh token"
    case withoutRefreshToken = "G22: without a refresh token, the server's clock or a refusal ends a session"
    case intent = "G27: no call with a stored refresh token without an intent in the store"
    case fence = "G23: a request gets tokens of its own session only"
    case signedOut = "G30: no session that a sign-out or a sign-in over it has ended is restored"
    case lost = "G30: no session is lost without tokens that have vanished, and each such one is"
    case lostHarmless = "G30: a lost session deletes and revokes nothing"
    case calls = "G5, G6, G9: a call returns what it may"
    case waiting = "A caller waits only while work is under way"
    case responses = "Each waiting caller gets one response"
    case otherToken = "A replacement is another token than the one refused"
    case rest = "A world without new events comes to rest"
}

extension Law {
    /// What the worlds for which the law is stated do not have. The others come to rest, where each caller has its
    /// response, and no token is given that has expired or is another user's.
    var exceptions: WorldPlan.Traits {
        switch self {
        case .backwards, .revival, .oneEnding, .oneReason, .pause, .rotation, .secondCall, .singleFlight, .key, .keys,
            .intent, .reuse, .health, .revocation, .mustRevoke, .otherToken, .signedOut, .order, .otherSignIn,
            .newest, .follows, .service:
            [.damage, .stepUps]
        case .life: [.damage, .stepUps, .setClocks]
        case .clock: [.stepUps, .setClocks]
        case .lost: .damage
        default: []
        }
    }
}

/// What the laws need of a machine before an event, and the event.
struct MachineSnapshot {
    let bundle: TokenBundle?
    /// The newest tokens, including those that are being stored.
    let newest: TokenBundle?
    /// Whether the end of the session is being stored, which may find another session in the store.
    let isEnding: Bool
    let event: RefreshEvent

    init(_ process: DeviceProcess, event: RefreshEvent) {
        bundle = process.bundle
        newest = process.newest
        let rejected = process.machine.value.unsavedContent?.rejection?.bundle.session
        isEnding = rejected != nil && rejected == bundle?.session
        self.event = event
    }

    var session: SessionID? { bundle?.session }
    var generation: Int { bundle?.generation ?? 0 }

    /// Whether the event says that a write to the store has failed, or takes too long.
    var isStoreFailure: Bool {
        switch event {
        case .wrote(_, .failed), .timerFired(.writeDeadline): true
        default: false
        }
    }

    /// What the event shows of the store.
    var shown: StoredSession? {
        switch event {
        case .read(_, let reading, _): try? reading.result.get()
        case .wrote(_, .superseded(let found)): found
        default: nil
        }
    }
}
