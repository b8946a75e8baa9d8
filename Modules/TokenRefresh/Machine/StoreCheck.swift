/// The check of a shared store, without the lease, or of a follower's source, for what another process has done.
///
/// One is under way at most. What changes the store meanwhile makes what it finds stale, and it is repeated. A check
/// that cannot be made now, as the first read or a write of this process has not ended, is owed.
struct StoreCheck: Hashable, Sendable {
    private(set) var isUnderWay = false
    /// The read under way may have seen older content, such as the session that the user has just left.
    private var isStale = false
    /// The check under way started too early for later callers, or for a report of a change.
    private(set) var mustRepeat = false
    var isOwed = false
    /// How many checks in a row could not read the store.
    var failures = 0
    /// Whether the deadline of the callers that wait for it is set.
    var isTimed = false

    mutating func begin() {
        isUnderWay = true
        isStale = false
        mustRepeat = false
        isOwed = false
    }

    /// The check has ended. Returns whether what it has found counts.
    mutating func end() -> Bool {
        defer {
            mustRepeat = mustRepeat || isStale
            isUnderWay = false
            isStale = false
        }
        return !isStale
    }

    /// A change is reported. Returns whether a check is to begin.
    mutating func changeReported() -> Bool {
        if isUnderWay { mustRepeat = true }
        return !isUnderWay
    }

    /// The content of the store may have changed: a read under way may have seen what was there before.
    mutating func storeMayHaveChanged() { if isUnderWay { isStale = true } }
}
