import AuthInterface

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
        condition == .works ? .success(entry) : .failure(.simulated)
    }
}
