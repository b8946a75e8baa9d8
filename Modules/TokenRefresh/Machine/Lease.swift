import AuthInterface

/// The lease of a shared store, as this process has it, and the rule when it is released (rule 2).
struct Lease: Hashable, Sendable {
    private enum State: Hashable {
        case none
        /// One request is under way at most, however long the store hangs (G26).
        case requested
        /// `identity`: the name of the lease, for the intents that are recorded under it. `isSuspending`: the process
        /// is about to be suspended, and the lease is released as soon as no write is under way.
        case held(AttemptID, identity: String?, isSuspending: Bool)
    }

    struct EndedCall: Hashable, Sendable {
        let session: SessionID
        let generation: Int
    }

    private var state = State.none
    /// Lost leases. They permit nothing; until their release others see that this process may be calling (rule 4).
    private var lost: [AttemptID] = []
    /// Calls of sessions whose end is not stored yet: until they end, no other process may spend the refresh token.
    var endedCalls: [AttemptID: EndedCall] = [:]

    private var held: (id: AttemptID, identity: String?)? {
        if case .held(let id, let identity, _) = state { (id, identity) } else { nil }
    }

    var isHeld: Bool { held != nil }
    var isSuspending: Bool { if case .held(_, _, isSuspending: true) = state { true } else { false } }
    var identity: String? { held?.identity }

    /// Whether nothing is to be released.
    var isFree: Bool { !isHeld && lost.isEmpty }

    /// Returns whether the lease is to be requested. A request of an earlier attempt that goes on serves this one.
    mutating func request() -> Bool {
        guard state == .none else { return false }
        state = .requested
        return true
    }

    mutating func requestEnded() { if state == .requested { state = .none } }

    /// Returns whether this is the lease from now on. A second one is released at once.
    mutating func take(_ id: AttemptID, _ identity: String?) -> Bool {
        guard !isHeld else { return false }
        state = .held(id, identity: identity, isSuspending: false)
        return true
    }

    /// Returns whether the lease was held.
    mutating func lose(_ id: AttemptID) -> Bool {
        guard id == held?.id else { return false }
        state = .none
        lost.append(id)
        return true
    }

    mutating func suspend() {
        if let held { state = .held(held.id, identity: held.identity, isSuspending: true) }
    }

    /// Rule 2: the lease belongs to the attempt until its call has ended and its result is stored. After the end of a
    /// session it stays until the tokens are removed, as other processes must not read them; where they cannot be
    /// removed, until the calls of the session have ended. Before a suspension only a write keeps it.
    ///
    /// A lease that was lost is needed by the call that was made under it. An attempt since then has another one.
    /// Returns those to release.
    mutating func release(neededBy session: Placed<ActiveSession>?, _ store: PendingWrite) -> [AttemptID] {
        let isStored = !store.isBehind
        if session == nil, isStored { endedCalls = [:] }
        let isEndMissed = session == nil && store.hasMissed && endedCalls.isEmpty
        let isCalling = session?.value.isCalling ?? false
        var released: [AttemptID] = []
        if isEndMissed || (isStored && !isCalling) {
            released = lost
            lost = []
        }
        let isNeeded = !isSuspending && session?.value.needsLease ?? false
        if let held, (isStored && !isNeeded) || (isEndMissed && !isSuspending) {
            released.append(held.id)
            state = .none
        }
        return released
    }
}
