import AuthInterface

/// The calls with the refresh token in use: the one under way, the key that all of them share, and the call of another
/// process that may be under way.
///
/// A call outlives its attempt, until it has ended or is abandoned (rule 2, G8). The key outlives the call, until a
/// response has brought tokens: a later call may get those of an earlier one (G12). Where another process has stored an
/// intent, rule 4 says from when on one more call may be made.
struct CallLedger: Hashable, Sendable {
    /// The intent of a call that may be under way in another process, and when this process first saw it.
    private struct Rival: Hashable {
        let intent: RefreshIntent
        let seenAt: Duration
    }

    var call: Call?
    /// `nil`: there was no call with the refresh token.
    private var key: CallKey?
    private var rival: Rival?

    /// When the first call was made with the key whose response may still arrive.
    var firstCall: Instant? { key?.firstCall }

    /// The key of the next call: that of an earlier one, until a response to it has been applied.
    mutating func keyForCall(_ context: inout Context) -> CallKey {
        let key = self.key ?? CallKey(new: context.newKey(), at: context.uptime)
        self.key = key
        return key
    }

    /// The intent of an earlier call with the key, which counts again where the next call is not made. Its date is that
    /// of the first call, from which a tolerance of the server counts. `nil`: there was no call.
    func earlierIntent(_ context: Context) -> RefreshIntent? {
        key.flatMap { $0.isUsed ? $0.intent(at: $0.firstCall?.date ?? context.now.date, context) : nil }
    }

    /// Other tokens are in use: the calls before say nothing of them. `intent`: that of a call with these tokens, which
    /// the store holds.
    mutating func startOver(after intent: RefreshIntent?, _ clock: MachineClock) {
        key = intent.map { CallKey(of: $0, clock) }
    }

    /// The store holds an intent. The time of an own call is known exactly, unless another process has called before.
    mutating func learn(_ intent: RefreshIntent, isForeign: Bool, _ clock: MachineClock) {
        if key?.value != intent.idempotencyKey || (key?.firstCall == nil && isForeign) {
            key = CallKey(of: intent, knownAs: key, clock)
        }
    }

    /// Begins a call. Returns its key.
    mutating func begin(
        _ id: AttemptID, _ recording: Call.Recording, generation: Int, _ context: inout Context
    ) -> String {
        let before = keyForCall(&context)
        key?.use(at: context.now)
        call = Call(id: id, recording: recording, generation: generation, keyBefore: before)
        return before.value
    }

    /// The response of a call was a failure.
    mutating func failed(_ ended: Call, _ error: TokenRefreshError) {
        if ended.isFirst, error.status.provesNoExchange { key?.firstCall = nil }
    }

    /// No byte of the call was written: its key is as it was before.
    mutating func wasNotMade(_ ended: Call) {
        if key?.value == ended.keyBefore.value { key = ended.keyBefore }
    }

    /// Rule 4: the owner of an intent may still be calling. An intent of this process that replaced the intent of such
    /// an owner says nothing about that owner.
    mutating func permission(after intent: RefreshIntent, ownerMayCall: Bool, _ clock: MachineClock) -> CallPermission {
        // Rule 7: the call has ended, and is neither under way nor lost.
        if intent.failure != nil, !intent.isAbandoned { return .now }
        if intent.owner == clock.settings.owner {
            guard rival?.intent.idempotencyKey == intent.idempotencyKey else { return .now }
        } else {
            guard intent.isAbandoned || ownerMayCall else { return .now }
            if rival?.intent != intent { rival = Rival(intent: intent, seenAt: clock.uptime) }
        }
        guard let rival else { return .now }
        let age = clock.age(of: rival.intent)
        let limit = clock.policy.longestCall(of: rival.intent)
        switch clock.settings.tolerance {
        case .sameKey: return .tolerated(since: clock.now)
        case .within(let window):
            guard let age, age < min(window, limit) else { break }
            return .tolerated(since: Instant(uptime: clock.uptime - age, date: rival.intent.date))
        case .none: break
        }
        // The date is of another clock, or this one was set since: the time since the first sight of it is measured.
        let known = max(age ?? .zero, clock.uptime - rival.seenAt)
        guard known < limit else { return .now }
        return .later(in: limit - known, after: LeaseHolder(process: rival.intent.owner, since: rival.intent.date))
    }
}

/// Whether a call may be made where an intent was found (rule 4).
enum CallPermission {
    case now
    /// Another call may be under way, and the server tolerates this one. A tolerance that is a time counts from the
    /// first call, so the intent of the repetition has its date, and both have one limit.
    case tolerated(since: Instant)
    /// The process whose call may be under way is waited for.
    case later(in: Duration, after: LeaseHolder)
}
