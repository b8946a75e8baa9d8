/// What must hold after every step, named by the guarantee it belongs to.
enum Law: String, Sendable {
    case singleFlight = "G1, G13: one refresh at a time for a session on a device"
    case lateRefusal = "G2: a late refusal is answered with the current token and causes no refresh"
    case expiredToken = "G3: no token is given that is known to be expired"
    case verdict = "G4: a session ends only after a rejection, a logout, or with nothing stored"
    case oneEnding = "G5: a session ends once"
    case pause = "G6: no call before the pause that the server asked for is over"
    case leaving = "G7: whoever leaves is told at once"
    case deadline = "G8: nobody waits longer than the deadlines allow"
    case backwards = "G9: a session in use never goes back to older tokens"
    case revival = "G9: what was deleted or replaced never comes back to the store"
    case revocation = "G9: tokens of the session in use are not revoked"
    case loop = "G10: a token refused while just refreshed causes no refresh in its pause"
    case persistence = "G11: no token is used before it is stored, unless the store fails"
    case rotation = "G12: no use of a refresh token whose successor is known or stored"
    case newest = "G12: the store ends up with the newest bundle"
    case health = "G13: a session that the server still honours is not ended"
    case store = "G14: a store that cannot say is not a store that holds nothing"
    case clock = "G19: no refresh without an expiry or a refusal"
    case noToken = "G22: no call without a refresh token"
    case fence = "G23: a request is given tokens of its own session only"
    case answers = "Whoever waits is answered, once"
    case otherToken = "A replacement is another token than the one refused"
    case rest = "A world left alone comes to rest"
}

/// A broken law, and how.
struct Violation: Error, Sendable {
    let law: Law
    let what: String
}
