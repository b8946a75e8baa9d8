import AuthInterface
import Foundation

@testable import TokenRefresh

/// One process on the device: a machine, what the shell keeps for it, and the requests that use it.
///
/// It is a class for speed alone: a world looks at a field of a process many times a step, and would copy all of it.
final class DeviceProcess {
    var machine: RefreshStateMachine
    var isAlive = true
    var requests: [Request] = []
    var alarms: [Alarm] = []

    // The store worker: one operation at a time, in the order the machine asked.
    var operations: [StoreWorker.Operation] = []
    /// When the first operation began to wait for the lease.
    var waitsSince: Int?
    /// What the first operation has brought, not told yet.
    var outcome: RefreshEvent?
    var held: AttemptID?
    /// The newest look at the store: its place among all events, and what it showed; nothing if the store failed.
    var look: (order: Int, found: TokenBundle??)?
    /// What the store has shown since the server last refused a refresh token; nothing if it was not read.
    var secondLook: TokenBundle??

    var notes = Notes()

    init(machine: RefreshStateMachine) {
        self.machine = machine
    }

    struct Alarm {
        let timer: RefreshTimer
        let at: Int
    }

    /// Somebody who asked the machine for something, or a request on its way to the resource server.
    struct Request {
        enum Kind {
            case token
            case replacement(of: SessionToken)
            case signIn
            case signOut
            case restore
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
        /// The session it began with, once that is known.
        var session: SessionID?
        var retries = 0

        /// Starts the wait for the state anew.
        mutating func restart(at now: Int) {
            if case .restore = kind { since = now }
        }

        var isWaiting: Bool {
            if case .waiting = phase { true } else { false }
        }
    }

    /// What the referee remembers of a process.
    struct Notes {
        /// A bundle, as far as it matters: whose, and the how manieth.
        struct Mark: Equatable {
            let session: SessionID
            let generation: Int
        }

        /// Sessions that ended here.
        var endings: Set<SessionID> = []
        /// Sessions this process was in, and those that its logins were to replace.
        var left: Set<SessionID> = []
        /// The server has refused the refresh token of this session.
        var heardNo: SessionID?
        /// No call may be made for the session before this instant.
        var pause: (session: SessionID, until: Int)?
        /// The last token that a refresh of this process has brought into use, and when.
        var refreshed: (mark: Mark, at: Int)?
        /// The last bundle this process has received from the server itself.
        var received: (mark: Mark, at: Int, lifetime: Int?)?
        /// A refresh has failed, and none has succeeded since.
        var isFailing = false
        /// The newest token that a resource server has refused.
        var complained: Mark?
        /// A token that was refused while just refreshed.
        var refusal: (mark: Mark, until: Int)?
        /// Bundles up to this one may be used although they are not stored: the store has failed or was too slow.
        var excused: Mark?
        /// The last session that ended here, and how many logins there had been when its sign-out was answered.
        var ended: (session: SessionID?, logins: Int)?
        /// The last session that began here with a login, and how many logins there had been when that was answered.
        var begun: (session: SessionID?, logins: Int)?
        /// The server's clock is known to the machine.
        var knowsServerDate = false
        /// It was known when the last refresh began.
        var knewServerDate = false
    }
}

/// A refresh on its way to the server and back.
struct Call {
    enum Phase {
        case sent
        case answered(AuthorizationServer.Answer, at: Int)
    }

    let number: Int
    let process: Int
    let attempt: AttemptID
    let base: TokenBundle
    let token: Int
    /// The calls with the same refresh token that were under way when it was made.
    let rivals: [Int]
    var phase = Phase.sent
    /// It takes longer than its deadline.
    var isHung = false
    /// Nobody counts on its answer any more: its deadline has passed, or a late answer has taken its place.
    var isOverdue = false
    /// The machine has cancelled it. It ends some time later, with a response or without.
    var isCancelled = false
    /// The process that made it is gone.
    var isOrphan = false
}

extension TokenBundle {
    var mark: DeviceProcess.Notes.Mark { .init(session: session, generation: generation) }

    /// The number of the grant it was made of, whichever of its tokens is usable.
    var grant: Int {
        let isNumbered = accessToken.utf8.contains { (48..<58).contains($0) }
        return Int(named: isNumbered ? accessToken : refreshToken ?? "")
    }
}

extension SessionToken {
    var mark: DeviceProcess.Notes.Mark { .init(session: session, generation: generation) }
}

extension Duration {
    /// Whole milliseconds, rounded up: an alarm never rings early.
    var milliseconds: Int {
        let parts = components
        return Int(parts.seconds) * 1_000 + Int((parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
