import AuthInterface
import Foundation

/// The call that spends, or has spent, the refresh token in use.
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

    /// The mark of its intent: the call was abandoned, or the process is about to be suspended.
    enum Mark: Hashable, Sendable {
        case none
        case writing(version: Int)
        case stored
    }

    /// An intent that is being stored, and the limits of its call.
    struct Recording: Hashable, Sendable {
        let intent: RefreshIntent
        /// The intent that counts again where the call is not made: that of the call before it, or of a replay its own.
        var replaced: RefreshIntent?
        /// From then on the limits and the tolerance count: the record of the intent, or the call that it repeats.
        let since: Duration
        /// From then on no byte may be written: other processes count its limits from the date of the intent (G28).
        let startBefore: Duration
    }

    var intent: RefreshIntent { recording.intent }

    /// Whether no response to an earlier call with the key can come in place of its own.
    var isFirst: Bool { keyBefore.firstCall == nil }

    /// Whether the tokens were lost on their way, with a failure that is no response, or a success that cannot be read.
    func isLost(by error: TokenRefreshError) -> Bool {
        progress == .underWay && error.code == .unavailable && (error.status == nil || error.hasSpent)
    }
}

/// The key of all calls with one refresh token (G12).
struct CallKey: Hashable, Sendable {
    let value: String
    /// A call may have been made with it.
    private(set) var isUsed: Bool
    /// When the first call was made whose response may still arrive, or be repeated: the tokens of any response have
    /// been valid since then. `nil`: there was none.
    var firstCall: Instant?
    /// When this process made the key: no call was made with it before. `nil`: another one made it.
    private var madeAt: Duration?

    init(new value: String, at uptime: Duration) {
        self.value = value
        isUsed = false
        madeAt = uptime
    }

    /// The key of a call that was recorded earlier. `own`: what this process knows of the key.
    init(of intent: RefreshIntent, knownAs own: CallKey? = nil, _ clock: MachineClock) {
        let first = intent.firstDate ?? intent.date
        value = intent.idempotencyKey
        isUsed = true
        madeAt = own.flatMap { $0.value == intent.idempotencyKey ? $0.madeAt : nil }
        if intent.firstDate == nil, intent.failure?.status.provesNoExchange == true { return }
        let shown = clock.timePassed(since: first).map { clock.uptime - $0 }
        firstCall = Instant(uptime: max(shown ?? .zero, madeAt ?? shown ?? clock.uptime), date: first)
    }

    /// A call is made with it.
    mutating func use(at now: Instant) {
        isUsed = true
        if firstCall == nil { firstCall = now }
    }

    func intent(at date: Date, isAbandoned: Bool = false, _ context: Context) -> RefreshIntent {
        RefreshIntent(
            idempotencyKey: value, owner: context.settings.owner, date: date, firstDate: firstCall?.date,
            longestCall: context.policy.longestCall, isAbandoned: isAbandoned, lease: context.lease.identity)
    }
}

/// The status of the response to a call.
extension Int? {
    /// Whether the response says that the refresh token was not exchanged. A server or a gateway that has failed may
    /// have exchanged it before.
    var provesNoExchange: Bool { map { ($0 < 500 || $0 == 503) && !isSuccess } ?? false }

    fileprivate var isSuccess: Bool { map { (200..<300).contains($0) } ?? false }
}

extension TokenRefreshError {
    /// Whether a response of success came that nothing can be made of: the refresh token is spent.
    var hasSpent: Bool { code == .unavailable && status.isSuccess }

    /// Whether a whole response came, which says something of the session or the server.
    var isOfWholeResponse: Bool { status != nil || [.rejected, .userActionRequired].contains(code) }
}
