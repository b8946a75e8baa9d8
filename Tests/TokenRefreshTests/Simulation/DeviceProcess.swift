import AuthInterface
import Foundation

@testable import TokenRefresh

/// One process on the device: a machine, what the shell keeps for it, and the requests that use it.
///
/// It is a class for speed alone: a world looks at a field of a process many times a step, and would copy all of it.
final class DeviceProcess {
    private(set) var machine: RefreshStateMachine
    /// What the machine shows, taken down after each event: a look at it copies all of it.
    private(set) var current: (bundle: TokenBundle, expiry: Expiry)?
    private(set) var published = SessionState.unknown
    /// The newest tokens that the machine has, those on their way to the store included.
    private(set) var newest: TokenBundle?
    let owner: ProcessIdentity
    var isAlive = true
    /// The system has suspended the process: nothing happens in it, and its calls go on at the server.
    var isSuspended = false
    /// The system has said that it will suspend the process.
    var isSuspending = false
    var requests: [Request] = []
    var timers: [SetTimer] = []

    /// What the process wants of the store, each on its own.
    var jobs: [Job] = []
    /// The leases that it has, as it knows.
    var leases: [AttemptID] = []
    /// The store has reported a change that the machine has not been told of.
    var hasReport = false
    /// The newest look at the store: its place among all events, and what it showed; nothing if the store failed.
    var check: (order: Int, found: StoredSession?)?

    var notes = ProcessNotes()

    init(machine: RefreshStateMachine, owner: ProcessIdentity) {
        self.machine = machine
        self.owner = owner
    }

    /// Whether something can happen in the process.
    var runs: Bool { isAlive && !isSuspended }

    /// Tells the machine something.
    func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        let actions = machine.handle(event, at: now)
        current = machine.current
        published = machine.published
        newest = current?.bundle
        if let newest, let unsaved = machine.unsavedContent?.bundle, unsaved.supersedes(newest) {
            self.newest = unsaved
        }
        return actions
    }

    /// Whether a sign-in waits for its tokens to be stored.
    var isActivating: Bool {
        guard let session = current?.bundle.session else { return false }
        return published != .signedIn(session)
    }

    /// Whether a look at the store has not ended.
    var isChecking: Bool {
        jobs.contains { if case .read(.check, _) = $0.kind { true } else { false } }
    }

    struct SetTimer {
        let timer: RefreshTimer
        let at: Int
    }

    /// Something that the store is to do.
    struct Job {
        enum Kind {
            case read(ReadPurpose, underLease: Bool)
            case lease(AttemptID)
            case release(AttemptID)
            case write(version: Int, StoreContent)
        }

        let kind: Kind
        let since: Int
        /// What it has brought, not told yet.
        var event: RefreshEvent?
    }

    /// A caller who asked the machine for something, or a request on its way to the resource server.
    struct Request {
        enum Kind {
            case token
            case replacement(of: SessionToken)
            case refresh
            case signIn
            case signOut
            case restore
            case settle
        }

        enum Phase {
            case waiting
            case carrying(SessionToken)
            case refused(SessionToken)
        }

        var waiter: Int
        var kind: Kind
        var phase = Phase.waiting
        var since: Int
        /// The place of its last question among all events.
        var order = 0
        /// The place of the event by which it was given its token.
        var handedAt = 0
        /// When it was given its token in place of a refused one.
        var replacedAt: Int?
        /// Whether the rule of G10 allows that it is told `unauthorized`.
        var mayBeUnauthorized = false
        /// The session it started with, once that is known.
        var session: SessionID?
        var endpoint = 0
        var retries = 0

        /// Starts the wait for the state anew.
        mutating func restart(at now: Int) {
            switch kind {
            case .restore, .refresh: since = now
            default: break
            }
        }

        var isWaiting: Bool {
            if case .waiting = phase { true } else { false }
        }
    }

    func stop(_ timer: RefreshTimer) {
        for index in 0..<timers.count where timers[index].timer == timer {
            timers.remove(at: index)
            return
        }
    }
}

/// A bundle, as far as it matters: whose, and the how manieth.
struct Mark: Equatable {
    let session: SessionID
    let generation: Int
}

/// What the referee remembers of a process.
struct ProcessNotes {
    /// Sessions that ended here.
    var endings: Set<SessionID> = []
    /// Sessions this process was in, and those that its sign-ins were to replace.
    var left: Set<SessionID> = []
    /// The server has refused the refresh token of this session.
    var sawRejection: SessionID?
    /// What was refused was not said by the authorization server itself (G4, *ambiguous*).
    var wasAmbiguous = false
    /// The last response to a call for this session was ambiguous.
    var ambiguous: SessionID?
    /// No call may be made for the session before this instant: the server has asked for it.
    var pause: (session: SessionID, until: Int)?
    /// The last attempt that failed: when, its place among all events, and the pause after it.
    var failure: (session: SessionID, at: Int, order: Int, until: Int)?
    /// An attempt is under way.
    var isAttempting = false
    /// The last token that a refresh of this process has brought into use, and when.
    var refreshed: (mark: Mark, at: Int)?
    /// The last bundle this process has received from the server itself.
    var received: (mark: Mark, grant: Int, at: Int, lifetime: Int?)?
    /// A refresh has failed, and none has succeeded since.
    var isFailing = false
    /// The newest token that a resource server has refused, or whose refresh a caller has asked for.
    var complained: Mark?
    /// Until when an endpoint has been told to wait (G10).
    var coolDowns: [Int: Int] = [:]
    /// Until when no second endpoint causes a refresh of a new token.
    var nextVerificationAt = 0
    /// Bundles up to this one may be used although they are not stored: the store has failed or was too slow.
    var excused: Mark?
    /// The last session that ended here, and how many sign-ins there had been when its sign-out was answered.
    var ended: (session: SessionID?, logins: Int)?
    /// The last session that started here with a sign-in, and how many sign-ins there had been when that was answered.
    var begun: (session: SessionID?, logins: Int)?
    /// The server's clock is known to the machine.
    var knowsServerDate = false
    /// It was known when the last refresh started.
    var knewServerDate = false
    /// When the machine last wanted an intent to be stored.
    var intentAt = 0
}

/// A refresh on its way to the server and back.
struct Call {
    enum Phase {
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
    /// The calls with the same refresh token that were under way when it was made.
    let rivals: [Int]
    var phase = Phase.sent
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
    /// The process that made it is gone.
    var isOrphan = false
    /// The process that made it has released, or lost, the lease.
    var isUnguarded = false
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

extension Duration {
    /// Whole milliseconds, rounded up: an alarm never rings early.
    var milliseconds: Int {
        let parts = components
        return Int(parts.seconds) * 1_000 + Int((parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
