/// How much may happen in one walk. Every interleaving within the bounds is visited.
struct ExplorationBounds: Hashable, Sendable {
    /// What is counted down.
    enum Resource: Int, CaseIterable, Sendable {
        case refresh
        /// A request is sent with the current token, and refused later.
        case request
        /// A process is notified of a change of the store, and checks it.
        case check
        case signIn
        case signOut
        /// A pause of the machine, or of a caller, ends.
        case pause
        /// A process is killed. It starts again.
        case crash
        /// A deadline passes before a call or the store has responded.
        case slow
        /// A call passes its second limit.
        case limit
        /// A connection breaks, before or after the server has processed the request.
        case lost
        /// The store fails a read, a write or a lease.
        case failure
        /// The store does a write and reports a failure.
        case misreport
        case suspension
        /// A lease is taken from a living process, as when its connection to the database is cut.
        case cut
        /// The server, or a gateway before it, responds with 5xx: before the refresh, or after it.
        case busy
        /// What shows who holds the lease is removed: the file that is locked, alone or because its folder is replaced
        /// by a copy, or the claim in the row.
        case removal
        /// A process is stopped, without a sign of it before, between the decision to call and the first byte.
        case freeze
        /// The journal fails a read or a note.
        case journal
        /// The tokens are deleted behind the back of the programs.
        case vanish
        /// A cache responds to a refresh, with the tokens of another user.
        case cached

        var isFault: Bool { rawValue >= Resource.crash.rawValue }
    }

    private(set) var left = SIMD32<UInt8>(repeating: 0)
    /// How many faults there may be in one history, of any kind.
    var faults: UInt8 = 0

    /// Takes amounts by name, as in `refresh=3 crash=1 faults=2`.
    init(_ text: String) {
        for part in text.split(whereSeparator: { " ,".contains($0) }) {
            let pair = part.split(separator: "=")
            guard pair.count == 2, let amount = UInt8(pair[1]) else { preconditionFailure("no bound: \(part)") }
            if pair[0] == "faults" {
                faults = amount
            } else if let resource = Resource.allCases.first(where: { "\($0)" == pair[0] }) {
                left[resource.rawValue] = amount
            } else {
                preconditionFailure("no bound: \(part)")
            }
        }
    }

    func has(_ resource: Resource) -> Bool { left[resource.rawValue] > 0 && (!resource.isFault || faults > 0) }

    mutating func spend(_ resource: Resource) {
        left[resource.rawValue] -= 1
        if resource.isFault { faults -= 1 }
    }

    /// Whether a walk has something of a kind at all.
    func includes(_ resource: Resource) -> Bool { left[resource.rawValue] > 0 }
}

/// The behaviour of store and server in a walk, and how the two may be faulty.
struct ExplorationModel: Hashable, Sendable {
    /// Rule 6: the server repeats its result for the same key, and the engine knows it.
    var honoursKeys = false
    /// The lease is a claim in a row: it can lapse, and has a number that is noted when it is released. Otherwise it is
    /// the lock of a file, which the kernel releases.
    var hasClaims = false
    var hasJournal = false
    /// No process runs, and none has signed in yet.
    var startsEmpty = false
    var flaw: World.Fault?
}
