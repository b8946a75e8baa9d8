import AuthInterface

@testable import TokenRefresh

/// One process on the device: a machine, what the shell keeps for it, and the requests that use it.
///
/// A class for speed: a world reads fields of a process many times a step, and would copy all of it.
final class DeviceProcess {
    private(set) var machine: SharedMachine
    /// The machine's current tokens, stored after each event: reading them from the machine copies all of it.
    private(set) var bundle: TokenBundle?
    private var expiry = Expiry.unknown
    private(set) var published = SessionState.unknown
    /// The state that was published last so far: an event may publish two.
    var announced = SessionState.unknown
    /// The newest tokens of the machine, including those that are being stored.
    private(set) var newest: TokenBundle?
    let owner: ProcessIdentity
    /// How often the process has started before.
    let incarnation: Int
    var isAlive = true
    /// The system has suspended the process: no event reaches it, and its calls continue at the server.
    var isSuspended = false
    var suspendedAt = 0
    /// How long the process has seen the device asleep, in milliseconds.
    var asleep = 0
    var isSuspending = false
    var requests: [Request] = []
    var timers: [SetTimer] = []

    /// What the store is for this process alone.
    var storeCondition = DeviceStore.Condition.works
    /// The pending work of the store for this process.
    var jobs: [Job] = []
    var leases: [HeldLease] = []
    /// The last lease of which the process knows that it is lost.
    var knownLoss: AttemptID?
    /// The claims that had been released when the process was given the newest one.
    var released: Set<String> = []
    /// When a caller whose refresh has failed may try again.
    var retryAt: Int?
    /// The store has reported a change, and the machine has not got the event yet.
    var hasReport = false
    /// What the journal held when the process last read or changed it.
    var entry: SessionJournalEntry?

    var notes = ProcessNotes()
    /// The families that the process has left, and not revoked yet.
    var mustRevoke: Set<Int> = []

    /// What tells the process from one in another state, once that is known.
    var fingerprint: Int?

    init(machine: SharedMachine, owner: ProcessIdentity, incarnation: Int) {
        self.machine = machine
        self.owner = owner
        self.incarnation = incarnation
    }

    func copy() -> DeviceProcess {
        let copy = DeviceProcess(machine: machine, owner: owner, incarnation: incarnation)
        (copy.bundle, copy.expiry, copy.newest) = (bundle, expiry, newest)
        (copy.published, copy.announced) = (published, announced)
        (copy.isAlive, copy.isSuspended, copy.isSuspending) = (isAlive, isSuspended, isSuspending)
        (copy.suspendedAt, copy.requests, copy.timers, copy.jobs) = (suspendedAt, requests, timers, jobs)
        (copy.leases, copy.knownLoss, copy.released, copy.retryAt) = (leases, knownLoss, released, retryAt)
        (copy.notes, copy.mustRevoke, copy.asleep, copy.entry) = (notes, mustRevoke, asleep, entry)
        return copy
    }

    var current: (bundle: TokenBundle, expiry: Expiry)? { bundle.map { ($0, expiry) } }

    var runs: Bool { isAlive && !isSuspended }

    func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        if !isKnownUniquelyReferenced(&machine) { machine = SharedMachine(machine.value) }
        var now = now
        now.asleep = .milliseconds(asleep)
        let actions = machine.value.handle(event, at: now)
        let current = machine.value.current
        (bundle, expiry) = (current?.bundle, current?.expiry ?? .unknown)
        published = machine.value.published
        newest = bundle
        if let newest, let unsaved = machine.value.unsavedContent?.bundle, unsaved.supersedes(newest) {
            self.newest = unsaved
        }
        return actions
    }

    struct HeldLease: Hashable {
        let attempt: AttemptID
        /// The name of the lease in its store, where it has one.
        let name: String?
    }

    struct SetTimer: Hashable {
        let timer: RefreshTimer
        let at: Int
    }

    /// One piece of work of the store.
    struct Job {
        enum Kind: Hashable {
            case read(ReadPurpose)
            case lease(AttemptID)
            case release(AttemptID)
            case write(version: Int, StoreContent)
        }

        let kind: Kind
        /// When its next step began.
        var since: Int
        /// What the journal has said, which is read, or notes what ends, before the store (G30). `nil`: nothing yet.
        var journal: Result<SessionJournalEntry, TokenStoreError>? = .success(SessionJournalEntry())
        /// The sessions that had ended when a read began.
        var ended: Set<SessionID> = []
        /// What a read has found in the store.
        var found: StoreResult?
        /// How the store has taken a write after which the journal is to remove its note.
        var outcome: WriteOutcome?
        /// The result, not reported yet.
        var event: RefreshEvent?
    }

    /// A caller of the machine, or a request on its way to the resource server.
    struct Request {
        enum Kind: Hashable {
            case token
            case replacement(of: SessionToken)
            case refresh
            case signIn
            case signOut
            case restore
            case settle
        }

        enum Phase: Hashable {
            case waiting
            case carrying(SessionToken)
            case refused(SessionToken)
        }

        var waiter: Int
        var kind: Kind
        var phase = Phase.waiting
        var since: Int
        /// The session it started with, once that is known.
        var session: SessionID?
        var endpoint = 0
        var retries = 0

        var isWaiting: Bool { phase == .waiting }
    }

    /// Shares a machine with the processes whose machines are equal to it.
    func share(_ known: inout Set<SharedMachine>) {
        // Equality of tokens ignores how those that were refused had been handed out.
        if requests.contains(where: { if case .replacement = $0.kind { true } else { false } }) { return }
        machine = known.insert(machine).memberAfterInsert
    }

    func stop(_ timer: RefreshTimer) { timers.removeAll { $0.timer == timer } }
}

/// A machine that the processes of several worlds can share, until an event changes that of one.
final class SharedMachine: Hashable {
    fileprivate(set) var value: RefreshStateMachine

    init(_ value: RefreshStateMachine) { self.value = value }

    static func == (first: SharedMachine, second: SharedMachine) -> Bool { first.value == second.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// The session and the generation of a bundle.
struct Mark: Equatable {
    let session: SessionID
    let generation: Int
}

/// What the laws need of a process's past.
struct ProcessNotes {
    /// Sessions that ended here.
    var endings: Set<SessionID> = []
    /// Sessions this process was in, and those that its sign-ins were to replace.
    var left: Set<SessionID> = []
    /// Sessions that a user has signed out of here.
    var signedOut: Set<SessionID> = []
    /// The server has refused the refresh token of this session.
    var sawRejection: SessionID?
    /// The refusal was *ambiguous* (G4).
    var wasAmbiguous = false
    /// No call may be made for the session before this instant, by the server's `Retry-After`.
    var pause: (session: SessionID, until: Int)?
    /// The last grant that this process has received from the server itself, and the first call with the key that
    /// brought it, before which it cannot have been issued.
    var received: (grant: Int, since: Int)?
    /// The newest token that a resource server has refused, or for which a caller has requested a refresh.
    var complained: TokenBundle?
    /// The newest token of which a refusal has said that it is invalid.
    var invalid: Mark?
    /// Bundles up to this one may be used although they are not stored: the store has failed or was too slow. So may
    /// its access token in a later generation: another process's refresh moves a step-up.
    var excused: TokenBundle?
    /// How many sign-ins there had been when a session last ended here.
    var endedAt = 0
    /// The date of the last intent that the machine wrote.
    var intentAt = 0
    /// The refresh tokens whose successors it has received.
    var spent: Set<Int> = []
}

/// A refresh on its way to the server and back.
struct Call {
    enum Phase: Hashable {
        /// No byte of it was written.
        case made
        case sent
        case responded(AuthorizationServer.Response)
    }

    let number: Int
    let process: Int
    let attempt: AttemptID
    let base: TokenBundle
    let token: Int
    let key: String
    /// When its intent was recorded, or it was made where there is none.
    let since: Int
    /// When no byte of it may be written any more.
    let startBefore: Int
    /// The newest token that its process had a complaint of when it was made.
    var complained: TokenBundle?
    var phase = Phase.made
    /// It takes longer than its deadline.
    var isHung = false
    /// It does not end when it is cancelled.
    var isDeaf = false
    /// Its deadline has passed, or a late response has taken its place.
    var isOverdue = false
    /// The machine has cancelled it.
    var isCancelled = false
    /// The machine has abandoned it: it counts as lost. Its response may come all the same.
    var isAbandoned = false
    /// The process that made it has ended.
    var isOrphan = false
    /// The process that made it has released, or lost, the lease.
    var isUnguarded = false
    /// Its process slept since it was written.
    var hasSlept = false
}

extension TokenBundle {
    var mark: Mark { .init(session: session, generation: generation) }

    /// The number of the grant it was made of, whichever of its tokens is usable.
    var grant: Int {
        let isNumbered = accessToken.utf8.contains { (48..<58).contains($0) }
        return Int(named: isNumbered ? accessToken : refreshToken ?? "")
    }
}

extension SessionToken {
    var mark: Mark { .init(session: session, generation: generation) }
}
