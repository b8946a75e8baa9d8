import AuthInterface

/// The content for the store, and the state of its write.
///
/// It is a register, not a queue: only the newest content is written, and at most one write is under way. So a sign-out
/// during a save needs no cancellation: its content is written when the save has ended.
struct PendingWrite: Hashable, Sendable {
    private(set) var version = 0
    private(set) var failures = 0
    private var settled = 0
    private var content: StoreContent?
    private var underWay: Write?
    /// The version whose deadline timer is set.
    private var timed: Int?
    /// The newest version whose write has failed or missed its deadline.
    private var missed = 0
    /// The newest version whose end the journal has taken: it, and each one before it, lasts although the store fails.
    var noted = 0

    struct Write: Hashable, Sendable {
        let version: Int
        let content: StoreContent
    }

    var isBehind: Bool { lacks(version) }
    var missing: StoreContent? { isBehind ? content : nil }
    var isEnding: Bool { if case .tombstone? = missing { true } else { false } }

    /// Whether the store may still take the end of a session.
    func mayEnd(_ session: SessionID) -> Bool {
        [missing, underWay?.content].contains { $0?.rejection?.bundle.session == session }
    }

    var isWriting: Bool { underWay != nil }

    /// The bundle of the write under way. It may be stored already.
    var bundleUnderWay: TokenBundle? { underWay?.content.bundle }

    /// Whether a write of the newest content has failed or missed its deadline, and none has succeeded.
    var hasMissed: Bool { isBehind && missed >= version }

    /// Whether a version, and every later one, is not stored yet.
    func lacks(_ version: Int) -> Bool { settled < version }

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

    /// Whether a deadline must be set. It counts from the request and not from the write: an earlier write may hang.
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

    /// Notes how a write ended. Returns what was written; `nil` for a write that is not the one under way.
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
        // The store has held the session: a later sign-in of another process that follows it must stay.
        if let bundle = write.content.bundle, case .bundle(let newer, over: let predecessor)? = content,
            newer.session == bundle.session, predecessor.mayBeAnotherSession
        {
            content = .bundle(newer, over: .older)
        }
        return write.content
    }

    mutating func settle() {
        settled = version
        failures = 0
    }
}
