import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// What the rules use beside the session, and the effects of the event so far. Rules of the session get it passed.
struct Context: Hashable, Sendable {
    var clock: MachineClock
    var store = PendingWrite()
    var check = StoreCheck()
    var callers = Callers()
    var lease = Lease()
    var order = SignInOrder()
    /// Whether a read of the store for an attempt has not ended. One is under way at most, however long it hangs (G26).
    var isReadingForAttempt = false
    /// The limits of calls whose timers are set.
    private var callLimits: [RefreshTimer: CallLimit] = [:]
    private var attempts = 0
    private var random: RandomSource
    @Uncompared private var actions: [RefreshAction] = []
    @Uncompared private(set) var outcome: SessionOutcome? = nil

    init(settings: MachineSettings, random: RandomSource) {
        clock = MachineClock(settings: settings)
        self.random = random
    }

    var now: Instant { clock.now }
    var uptime: Duration { clock.now.uptime }
    var policy: TokenRefreshPolicy { clock.settings.policy }
    var settings: MachineSettings { clock.settings }

    func canRefresh(_ bundle: TokenBundle) -> Bool { clock.settings.canRefresh(bundle) }

    mutating func emit(_ action: RefreshAction) { actions.append(action) }

    mutating func refuse(
        _ waiter: Waiter, _ code: AuthenticationError.Code, retryAfter: Duration? = nil, cause: (any Error)? = nil
    ) {
        emit(.respond(waiter.id, .failed(AuthenticationError(code, retryAfter: retryAfter, cause: cause))))
    }

    /// Returns the actions of one event. The next one gets a new buffer: a burst leaves no large one behind.
    mutating func takeActions() -> [RefreshAction] {
        defer { actions = [] }
        return actions
    }

    /// The session ends. Its rules do nothing after it.
    mutating func conclude(_ outcome: SessionOutcome) { self.outcome = outcome }

    mutating func takeOutcome() -> SessionOutcome? {
        defer { outcome = nil }
        return outcome
    }

    mutating func nextAttempt() -> AttemptID {
        attempts += 1
        return AttemptID(number: attempts)
    }

    /// A pause before the next attempt (G6), or before the store is used again.
    mutating func pause(afterFailures failures: Int, ofStore: Bool = false) -> Duration {
        (ofStore ? policy.storeBackoff : policy.backoff).delay(afterFailures: failures, using: &random)
    }

    mutating func newKey() -> String { String(format: "%016llx%016llx", random.next(), random.next()) }

    // MARK: The store

    /// Lets the caller of a sign-in or a sign-out wait for the newest content.
    mutating func letWait(_ waiter: Waiter, isSignIn: Bool = false) {
        callers.add(waiter, to: .write(version: store.version, isSignIn: isSignIn))
    }

    /// Sets the content for the store, and writes it as soon as no other write is under way.
    mutating func write(_ content: StoreContent) -> Int {
        let version = store.want(content)
        beginWriting()
        return version
    }

    mutating func beginWriting() {
        if store.mustTime() {
            emit(.startTimer(.writeDeadline(version: store.version), at: uptime + policy.storeLimit))
        }
        guard let write = store.next() else { return }
        emit(.stopTimer(.storeRetry))
        emit(.write(version: write.version, write.content))
    }

    /// Drops the content that is not stored yet.
    mutating func forgetWrites() {
        // A read under way may have seen the content before the write under way.
        if store.isWriting { check.storeMayHaveChanged() }
        store.settle()
        emit(.stopTimer(.storeRetry))
    }

    // MARK: The limits of a call

    /// Whether a call is under way, of this session or of an earlier one, that was not abandoned.
    var isCalling: Bool { !callLimits.isEmpty }

    mutating func limitCall(_ timer: RefreshTimer, at end: Duration) {
        let limit = CallLimit(at: end, now: uptime, grace: policy.wakeGrace)
        callLimits[timer] = limit
        emit(.startTimer(timer, at: limit.due))
    }

    /// Cancels a call. It has `abandonAfter` to end.
    mutating func cancelCall(_ id: AttemptID) {
        emit(.cancelCall(id))
        limitCall(.abandonment(id), at: uptime + policy.abandonAfter)
    }

    /// Whether a timer's limit has passed. A call in a process that slept gets time to read its response (G8).
    mutating func hasPassed(_ timer: RefreshTimer) -> Bool {
        guard var limit = callLimits.removeValue(forKey: timer) else { return true }
        let hasPassed = limit.sliceEnded(at: uptime)
        if limit.hasJustSlept { clock.noteWake() }
        guard !hasPassed else { return true }
        callLimits[timer] = limit
        emit(.startTimer(timer, at: limit.due))
        return false
    }

    mutating func stopLimits(of id: AttemptID) {
        for timer in [RefreshTimer.callLimit(id), .abandonment(id)] where callLimits.removeValue(forKey: timer) != nil {
            emit(.stopTimer(timer))
        }
    }

    mutating func requestLease(for id: AttemptID) { if lease.request() { emit(.lease(id)) } }

    // MARK: New tokens

    /// Makes a bundle of tokens that have just been received. Their life counts from the sending of their call: `sent`,
    /// or now. The server date in the response is recorded first. That of a late response includes the delay, which
    /// must not count twice. A token that may do less than it was `asked` for is reported (G31).
    mutating func receive(
        _ tokens: TokenRefreshResult, of session: SessionID, _ ordinal: SessionOrdinal, after old: TokenBundle? = nil,
        asked scope: String? = nil, sentAt sent: Instant? = nil
    ) -> NewTokens {
        let start = sent ?? now
        var dated = tokens
        dated.serverDate = tokens.serverDate.map { clock.serverClock.record($0, sentAt: start, at: now) }
        let lifetime = TokenLifetime(of: dated, sentAt: start, clock)
        if let expiry = lifetime.unreadExpiry { emit(.report(.expiryIgnored(session: session, expiry: expiry))) }
        let missing = tokens.missingScope(of: scope)
        if !missing.isEmpty { emit(.report(.scopeNarrowed(session: session, missing: missing))) }
        let bundle = TokenBundle(
            tokens, session: session, ordinal, after: old, lifetime: lifetime.duration, clock.serverClock, start)
        let validity = TokenValidity(received: bundle, lifetime, sent: sent?.uptime, clock)
        return NewTokens(bundle: bundle, validity: validity, problem: tokens.accessTokenProblem)
    }
}

/// The source of jitter and keys: the system, or a seed that makes a run repeatable.
struct RandomSource: RandomNumberGenerator, Hashable, Sendable {
    var seeded: SplitMix64?

    mutating func next() -> UInt64 { seeded?.next() ?? .random(in: .min ... .max) }

    /// It names keys and stretches pauses, and nothing else: states that differ in it alone are walked once.
    func hash(into hasher: inout Hasher) {}
}

/// A value that each event sets: between two events, equal states may differ in it.
@propertyWrapper
struct Uncompared<Value: Sendable>: Hashable, Sendable {
    var wrappedValue: Value

    static func == (first: Self, second: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
