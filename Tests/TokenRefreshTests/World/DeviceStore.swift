import AuthInterface

@testable import TokenRefresh

/// The store of a device: it holds one session, works or fails, and can be leased.
struct DeviceStore {
    enum Condition {
        case works
        case failsToRead
        case failsToWrite
        case fails
        case hangs
        /// What is stored cannot be read; it can be replaced.
        case isCorrupt
    }

    /// The lease, and the process that has it.
    struct Lease {
        let process: Int
        let owner: ProcessIdentity
        let attempt: AttemptID
        /// Since when the owner does not renew its claim: it was killed or stopped, or its connection was cut.
        var silentSince: Int?
    }

    var content: StoredSession = .empty
    var condition = Condition.works
    /// The last bundle before the stored one.
    private(set) var earlier: TokenBundle?
    /// A copy of the content, which may replace it later.
    var backup: StoredSession?
    var lease: Lease?
    /// The owners whose lease has expired: their calls may be under way.
    var expired: Set<ProcessIdentity> = []
    /// The number of the lock file, or of the last claim.
    var leaseNumber = 0
    /// The claims that were released.
    var released: Set<String> = []
    var fault: World.Fault?

    /// What the store is for a process that cannot reach it as others can.
    func condition(for own: Condition) -> Condition {
        condition == .works || (condition == .isCorrupt && own != .works) ? own : condition
    }

    func read(in condition: Condition) -> StoreResult {
        switch condition {
        case .works, .failsToWrite, .hangs: .success(content)
        case .fails, .failsToRead: .failure(.locked)
        case .isCorrupt: .failure(TokenStoreError(.corrupt, reason: "a flipped bit"))
        }
    }

    /// Does what `StoreAccess` does, by the same decision. Returns how the write ended, and what was stored.
    mutating func write(_ wanted: StoreContent, isShared: Bool, in condition: Condition) -> (
        WriteOutcome, StoredSession?
    ) {
        if condition == .fails || condition == .failsToWrite { return (.failed(.locked), nil) }
        if condition == .failsToRead, isShared { return (.failed(.locked), nil) }
        guard isShared, fault != .writesAreBlind else {
            let removed = wanted.mayRemoveUnread ? (try? read(in: condition).get())?.bundle : nil
            replace(by: wanted.bundle.map { .active($0) } ?? .empty)
            return (.written(replaced: removed), content)
        }
        let found = read(in: condition)
        guard let new = wanted.replacement(for: found) else {
            let stored = (try? found.get()) ?? .empty
            return (wanted.outcome(leaving: stored), nil)
        }
        replace(by: new)
        return (.written(replaced: (try? found.get())?.bundle), new)
    }

    private mutating func replace(by new: StoredSession) {
        if let old = content.bundle, old.session == new.bundle?.session, old.mark != new.bundle?.mark { earlier = old }
        content = new
        if condition == .isCorrupt { condition = .works }
    }
}

/// The journal of a device: it works, fails or hangs.
struct DeviceJournal {
    enum Condition {
        case works, fails, hangs
    }

    var entry = SessionJournalEntry()
    var condition = Condition.works
    /// Whether it could not take what it was to take.
    var hasMissed = false

    /// What a read finds. One that hangs counts as a failure once its time is over.
    func read() -> Result<SessionJournalEntry, TokenStoreError> {
        condition == .works ? .success(entry) : .failure(.locked)
    }
}
