import AuthInterface

/// What the store should hold, and how far it has got there.
///
/// It is a register, not a queue: only the newest content matters, and at most one write is under way. So a sign-out
/// that comes while a refresh is being saved needs no cancellation: when the save has ended, a newer content is wanted
/// and is written next.
struct PendingWrite: Hashable, Sendable {
    private(set) var version = 0
    private(set) var failures = 0
    private var settled = 0
    private var content: StoreContent?
    private var underWay: Write?
    /// The version whose deadline runs.
    private var timed: Int?
    /// The newest version whose write has failed or missed its deadline.
    private var missed = 0
    private var waiters: [WaiterID: Int] = [:]

    struct Write: Hashable, Sendable {
        let version: Int
        let content: StoreContent
    }

    /// Whether the store lacks what it should hold.
    var isBehind: Bool { settled < version }

    /// What the store should hold, and does not hold yet.
    var missing: StoreContent? { isBehind ? content : nil }

    /// Whether a write is under way.
    var isWriting: Bool { underWay != nil }

    /// The bundle of the write under way. It may be stored already.
    var bundleUnderWay: TokenBundle? { underWay?.content.bundle }

    /// Whether the newest content has been tried to write, without success so far.
    var hasMissed: Bool { isBehind && missed >= version }

    /// Whether the store lacks a version, and every later one.
    func lacks(_ version: Int) -> Bool { settled < version }

    /// Sets what the store should hold from now on.
    mutating func want(_ content: StoreContent) -> Int {
        version += 1
        self.content = content
        return version
    }

    /// Takes the next write, if there is one to make and none is under way.
    mutating func next() -> Write? {
        guard underWay == nil, isBehind, let content else { return nil }
        underWay = Write(version: version, content: content)
        return underWay
    }

    /// Whether a deadline must be set for the newest version. It counts from the wish and not from the write, as an
    /// earlier write may hang.
    mutating func mustTime() -> Bool {
        guard isBehind, timed != version else { return false }
        timed = version
        return true
    }

    /// Notes that a version was not written in time. Its write may still succeed.
    mutating func timeOut(_ version: Int) {
        if timed == version { timed = nil }
        missed = max(missed, version)
    }

    /// Notes how a write ended.
    ///
    /// - Returns: What was written; `nil` for a write that is not the one under way.
    mutating func finish(_ version: Int, _ outcome: WriteOutcome) -> StoreContent? {
        if timed == version { timed = nil }
        guard let write = underWay, write.version == version else { return nil }
        underWay = nil
        if case .failed = outcome {
            failures += 1
            missed = max(missed, version)
            return write.content
        }
        settled = max(settled, version)
        failures = 0
        guard case .written = outcome else { return write.content }
        // From now on the store has held the session. What it holds when a newer bundle gets there may be a later
        // sign-in of another process, which must stay.
        if let bundle = write.content.bundle, case .bundle(let newer, over: .anything)? = content,
            newer.session == bundle.session
        {
            content = .bundle(newer, over: .older)
        }
        return write.content
    }

    /// Notes that nothing is wanted of the store any more.
    mutating func settle() {
        settled = version
        failures = 0
    }

    /// Notes that a caller waits for the newest version to be written.
    mutating func wait(_ waiter: WaiterID) { waiters[waiter] = version }

    /// Forgets a caller.
    mutating func remove(_ waiter: WaiterID) -> Bool { waiters.removeValue(forKey: waiter) != nil }

    /// Takes out the callers who wait for a version or an older one, in the order in which they came.
    mutating func takeWaiters(upTo version: Int) -> [WaiterID] {
        guard !waiters.isEmpty else { return [] }
        let served = waiters.filter { $0.value <= version }.map(\.key)
        for waiter in served { waiters[waiter] = nil }
        return served.sorted { $0.number < $1.number }
    }
}
