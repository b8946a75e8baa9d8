import AuthInterface
import Foundation

/// A call that spends a refresh token, and what is known of it.
extension ActiveSession {
    /// An intent that is being stored, and the limits of its call.
    struct Recording: Hashable, Sendable {
        let intent: RefreshIntent
        /// The intent that it replaces: it counts again where the call is not made. That of a replay is its own, as the
        /// call before it was made.
        var replaced: RefreshIntent?
        let version: Int
        /// From then on the limits and the tolerance count: the record of the intent, or the call that it repeats.
        let since: Duration
        /// From then on no byte of the call may be written: other processes count its limits from the date of the
        /// intent (G28).
        let startBefore: Duration
    }

    /// Whether a call may be made where an intent was found (rule 4).
    enum CallPermission {
        case now
        /// Another call may be under way, and the server tolerates this one.
        case tolerated(Repetition)
        case later(in: Duration)
    }

    /// A call beside another one that may be under way. Where the tolerance of the server is a time, it counts from the
    /// first call, so the intent of the repetition has the date of the first one, and both have one limit.
    struct Repetition: Hashable, Sendable {
        var date: Date?
        var since: Duration?
    }

    /// The key of all calls with one refresh token.
    struct CallKey: Hashable, Sendable {
        let value: String
        /// A call may have been made with it.
        var isUsed: Bool
        /// When the first call was made whose response may still arrive, or be repeated: the tokens of any response
        /// have been valid since then. `nil`: there was none.
        var firstCall: Instant?
        /// When this process made the key: no call was made with it before. `nil`: another one made it.
        private var madeAt: Duration?

        /// The key of a call that was recorded earlier. `own`: what this process knows of the key.
        init?(of intent: RefreshIntent?, knownAs own: CallKey? = nil, _ moment: Moment) {
            guard let intent else { return nil }
            let first = intent.firstDate ?? intent.date
            madeAt = own.flatMap { $0.value == intent.idempotencyKey ? $0.madeAt : nil }
            (value, isUsed) = (intent.idempotencyKey, true)
            if intent.firstDate == nil, RefreshStatus(intent.failure?.status).provesNoExchange { return }
            let shown = moment.timePassed(since: first).map { moment.uptime - $0 }
            firstCall = Instant(uptime: max(shown ?? .zero, madeAt ?? shown ?? moment.uptime), date: first)
        }

        /// The key, once a call is made with it.
        func used(at now: Instant) -> CallKey {
            var key = self
            key.isUsed = true
            if firstCall == nil { key.firstCall = now }
            return key
        }

        init(new value: String, at uptime: Duration) {
            (self.value, isUsed, madeAt) = (value, false, uptime)
        }
    }

    /// The call that spends, or has spent, the current refresh token.
    struct Call: Hashable, Sendable {
        let id: AttemptID
        /// Its intent, which the store holds or is to hold.
        let recording: Recording
        /// The generation of the bundle whose refresh token it spends.
        let generation: Int
        /// What was known of its key before it.
        let keyBefore: CallKey
        var progress = Progress.underWay
        var mark = Mark.none

        enum Progress: Hashable, Sendable {
            case underWay
            /// It has passed its second limit.
            case cancelled
            /// It has not ended although it was cancelled.
            case abandoned
        }

        var intent: RefreshIntent { recording.intent }

        /// Whether no response to an earlier call with the key can come in place of its own.
        var isFirst: Bool { keyBefore.firstCall == nil }

        /// The mark of its intent: the call was abandoned, or the process is about to be suspended.
        enum Mark: Hashable, Sendable {
            case none
            case writing(version: Int)
            case stored
        }

        /// Whether a failure means that the tokens were lost on their way, and not that the server has refused them: no
        /// response, or a success that cannot be read.
        func isLost(by error: TokenRefreshError) -> Bool {
            progress == .underWay && error.code == .unavailable && (error.status == nil || error.hasSpent)
        }
    }
}
