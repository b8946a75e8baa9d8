import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The constants of a machine.
struct MachineSettings: Hashable, Sendable {
    let policy: TokenRefreshPolicy
    let isShared: Bool
    /// This process, as an intent names it.
    let owner: ProcessIdentity
    let tolerance: ReplayTolerance
}

/// The context of the rules beside the session: the clocks, the pending write, the lease, and the actions so far.
struct MachineContext: Sendable {
    let settings: MachineSettings
    private(set) var now = Instant(uptime: .zero, date: Date(timeIntervalSince1970: 0))
    /// Since this instant the wall clock has not been set: it has advanced with the monotonic clock.
    private(set) var steadySince: Instant?
    /// Whether the wall clock was set since the machine began.
    private var wasClockSet = false
    var store = PendingWrite()
    var room = WaitingRoom()
    var serverClock = ServerClock()
    var lease = Lease()
    /// The attempt whose read of the store has not ended. One is under way at most, however long the store hangs (G26).
    private var attemptRead: AttemptID?
    /// The limits of calls whose timers are set.
    private var callLimits: [RefreshTimer: CallLimit] = [:]
    /// The event says that the content of the store may have changed: a read under way may have seen older content.
    /// Always `false` between two events.
    var storeMayHaveChanged = false
    private var random: RandomSource
    private var actions: [RefreshAction] = []
    private var attempts = 0

    init(settings: MachineSettings, random: RandomSource) {
        self.settings = settings
        self.random = random
    }

    var policy: TokenRefreshPolicy { settings.policy }

    mutating func emit(_ action: RefreshAction) { actions.append(action) }

    /// Returns the actions of one event. The next event gets a new buffer, so that a burst of responses leaves
    /// no large buffer behind.
    mutating func takeActions() -> [RefreshAction] {
        defer { actions = [] }
        return actions
    }

    mutating func nextAttempt() -> AttemptID {
        attempts += 1
        return AttemptID(number: attempts)
    }

    /// A pause before the next attempt (G6).
    mutating func pause(afterFailures failures: Int) -> Duration {
        policy.backoff.delay(afterFailures: failures, using: &random)
    }

    /// A pause before the store is used again.
    mutating func storePause(afterFailures failures: Int) -> Duration {
        policy.storeBackoff.delay(afterFailures: failures, using: &random)
    }

    mutating func newKey() -> String {
        [random.next(), random.next()].map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }

    // MARK: The store

    /// Lets the caller of a sign-in or a sign-out wait for the newest content.
    mutating func letWait(_ waiter: Waiter, isSignIn: Bool = false) {
        room.add(waiter, to: .write(version: store.version, isSignIn: isSignIn))
    }

    /// Lets the callers of sign-outs that waited for the first read wait for the newest content.
    mutating func letEarlySignOutsWait() {
        room.move(from: .earlySignOut, to: .write(version: store.version, isSignIn: false))
    }

    /// Sets the content for the store, and writes it as soon as no other write is under way.
    mutating func write(_ content: StoreContent) -> Int {
        let version = store.want(content)
        beginWriting()
        return version
    }

    mutating func beginWriting() {
        if store.mustTime() {
            emit(.startTimer(.writeDeadline(version: store.version), at: now.uptime + policy.storeLimit))
        }
        guard let write = store.next() else { return }
        emit(.stopTimer(.storeRetry))
        emit(.write(version: write.version, dated(write.content)))
    }

    /// A sign-in is compared with others by date, as long as the clock of its date was not set.
    private func dated(_ content: StoreContent) -> StoreContent {
        guard case .bundle(let bundle, over: .begunBefore(let date?, let left)) = content else { return content }
        let isSteady = isSteady(since: date, within: Self.clockTolerance)
        return isSteady ? content : .bundle(bundle, over: .anything(replacing: left))
    }

    /// Drops the content that is not stored yet.
    mutating func forgetWrites() {
        // A read under way may have seen the content before the write under way.
        if store.isWriting { storeMayHaveChanged = true }
        store.settle()
        emit(.stopTimer(.storeRetry))
    }

    /// Reads the store for an attempt. A read of an earlier attempt that has not ended ends first.
    mutating func readStore(for id: AttemptID) {
        guard attemptRead == nil else { return }
        attemptRead = id
        emit(.read(.attempt(id)))
    }

    mutating func attemptReadEnded() { attemptRead = nil }

    // MARK: The limits of a call

    /// Whether a call is under way, of this session or of an earlier one, that was not abandoned.
    var isCalling: Bool { !callLimits.isEmpty }

    /// Starts the timer of a limit of a call.
    mutating func limitCall(_ timer: RefreshTimer, at end: Duration) {
        let limit = CallLimit(at: end, now: now.uptime, grace: policy.wakeGrace)
        callLimits[timer] = limit
        emit(.startTimer(timer, at: limit.due))
    }

    /// Whether what a timer limits has come to its end. A call in a process that slept gets time to read its response
    /// (G8).
    mutating func hasPassed(_ timer: RefreshTimer) -> Bool {
        guard var limit = callLimits.removeValue(forKey: timer), !limit.sliceEnded(at: now.uptime) else { return true }
        callLimits[timer] = limit
        emit(.startTimer(timer, at: limit.due))
        return false
    }

    /// A call has ended.
    mutating func stopLimits(of id: AttemptID) {
        for timer in [RefreshTimer.callLimit(id), .abandonment(id)] where callLimits.removeValue(forKey: timer) != nil {
            emit(.stopTimer(timer))
        }
    }

    // MARK: The lease

    mutating func requestLease(for id: AttemptID) {
        if lease.request() { emit(.lease(id)) }
    }

    mutating func take(lease id: AttemptID, _ identity: String?) {
        if !lease.take(id, identity) { emit(.release(id)) }
    }

    // MARK: Clocks

    /// How far the wall clock may differ from the monotonic clock, as its rate is corrected, before it counts as set.
    private static let clockTolerance: TimeInterval = 2

    mutating func advance(to instant: Instant) {
        now = instant
        if let start = steadySince {
            let (measured, shown) = (instant.uptime - start.uptime, instant.date.timeIntervalSince(start.date))
            if abs(shown - measured / .seconds(1)) <= Self.clockTolerance { return }
            wasClockSet = true
        }
        steadySince = instant
    }

    /// Whether this process has seen that the wall clock was not set since a date, which was shown by then.
    private func isSteady(since date: Date, within tolerance: TimeInterval = 0) -> Bool {
        steadySince.map { date >= $0.date - tolerance && date <= now.date + tolerance } ?? false
    }

    /// The time that has passed since a stored date. `nil`: not known, as the wall clock was set since. Before the
    /// start of this process it counts as steady.
    func timePassed(since date: Date) -> Duration? {
        guard date.isPlausible, !wasClockSet || isSteady(since: date) else { return nil }
        return .seconds(max(now.date.timeIntervalSince(date), 0))
    }

    /// The time since another process recorded an intent, where the wall clock shows it reliably: the process is on
    /// this host, and the clock has not been set since. `nil`: not known.
    func age(of intent: RefreshIntent) -> Duration? {
        guard intent.owner.host == settings.owner.host, isSteady(since: intent.date) else { return nil }
        return .seconds(now.date.timeIntervalSince(intent.date))
    }

    /// Returns the lifetime of tokens that have just been received, from the sending of their call. The server date in
    /// the response is recorded first.
    mutating func lifetime(of tokens: TokenRefreshResult, for session: SessionID, sentAt sent: Instant) -> Duration? {
        if let expiry = tokens.unreadExpiry { emit(.report(.expiryIgnored(session: session, expiry: expiry))) }
        if let date = tokens.serverDate { serverClock.note(date, sentAt: sent, at: now) }
        return TokenLifetime(of: tokens, sentAt: serverClock.date(at: sent), limit: policy.maximumLifetime).duration
    }

    /// An earlier instant, on the clocks as they are set now; `nil` is now.
    func earlier(_ uptime: Duration?) -> Instant {
        uptime.map { Instant(uptime: $0, date: now.date - (now.uptime - $0) / .seconds(1)) } ?? now
    }

    /// When a bundle from the store expires, by the clock of its expiry: the server's, as far as that is known.
    /// `sighting`: when the store held the tokens before it. The server's own clock needs no such check.
    func expiry(ofStored bundle: TokenBundle, after sighting: StoreSighting? = nil) -> Expiry {
        let isCertain = serverClock.isKnown && bundle.isDatedByServer
        let skew = bundle.isDatedByDevice ? 0 : serverClock.skew(at: now) ?? bundle.clockSkew
        return Expiry(stored: bundle, at: now, skew: skew, after: isCertain ? nil : sighting, policy: policy)
    }
}

/// Two contexts are equal when the same event has the same effect in both, but for names and jitter. `now` is set by
/// each event, and the buffer of actions is empty between two. The random source only names keys and stretches pauses.
extension MachineContext: Hashable {
    static func == (first: MachineContext, second: MachineContext) -> Bool {
        first.settings == second.settings && first.store == second.store && first.room == second.room
            && first.serverClock == second.serverClock
            && first.lease == second.lease && first.attempts == second.attempts
            && first.steadySince == second.steadySince
            && first.wasClockSet == second.wasClockSet
            && first.attemptRead == second.attemptRead
            && first.callLimits == second.callLimits
    }

    /// Feeds what equality compares, but for the settings: machines with different settings are rarely compared.
    func hash(into hasher: inout Hasher) {
        hasher.combine(store)
        hasher.combine(room)
        hasher.combine(serverClock)
        hasher.combine(lease)
        hasher.combine(steadySince)
        hasher.combine(attemptRead)
        hasher.combine(callLimits)
        hasher.combine(attempts)
    }
}

/// The source of jitter and keys: the system, or a seed that makes a run repeatable.
enum RandomSource: RandomNumberGenerator, Sendable {
    case system
    case seeded(SplitMix64)

    mutating func next() -> UInt64 {
        switch self {
        case .system:
            var system = SystemRandomNumberGenerator()
            return system.next()
        case .seeded(var generator):
            defer { self = .seeded(generator) }
            return generator.next()
        }
    }
}
