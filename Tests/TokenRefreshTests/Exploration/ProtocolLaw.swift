/// What must hold in every state that can be reached.
enum ProtocolLaw: String, Sendable {
    case reuse = "a family that is revoked for re-use is explained by a lost response, a crash or the second limit"
    case reuseWithKeys = "a server that honours keys never revokes for re-use, except after the second limit"
    case signOutIsFinal = "a sign-out is never undone"
    case intent = "no call without an intent in the store for a stored refresh token"
    case oneCall = "one live call per refresh token"
    case pause = "the pause after a failure is observed by every process"
    case lease = "a call for a stored refresh token is made under the lease"
    case sessions = "no token of another session is returned"
    case health = "a healthy session is not ended"
    case spared = "a sign-out deletes no sign-in of another process"
    case waiting = "a caller waits only while work is under way"
    case leaseEnds = "a lease that protects nothing is released"
    case responses = "a caller gets one response"
}

/// Why a family may have been revoked for re-use.
struct ReuseCause: OptionSet, Hashable {
    let rawValue: UInt8

    static let lostResponse = ReuseCause(rawValue: 1)
    static let crash = ReuseCause(rawValue: 2)
    static let limit = ReuseCause(rawValue: 4)
}
