/// The right to refresh the session of a shared store, held by one process at a time.
public protocol TokenStoreLease: Sendable {
    /// The name of this lease, which the engine records in each intent (``RefreshIntent/lease``): of a lock on a file
    /// the file itself, of a claim in a database its number. `nil` where the store has no such name.
    ///
    /// Two leases may have one name only if the holder of the later one proves that the earlier one has ended.
    var identity: String? { get }

    /// Whether the process that recorded an intent may still be waiting for the response to its call, although this
    /// process now has the lease.
    ///
    /// `false` only on a positive sign that the lease which the intent names has ended: its owner released it, or the
    /// kernel of this host released that very lock when the owner died. Neither a process that is not found, nor a lock
    /// file that was replaced, nor a claim that is missing is such a sign, nor an intent that names no lease.
    func mayStillCall(_ intent: RefreshIntent) -> Bool

    /// Whether another process may have the lease by now, although this one has not released it. The engine makes no
    /// call then.
    ///
    /// A lock on a file is lost when the file is no longer at its path: others lock the one that is. A claim that
    /// expires unless it is renewed is lost when another process has taken it, or when its last renewal is longer ago
    /// than it lasts. It must not block.
    var isLost: Bool { get }

    /// Releases the lease, so that the next process can take it. A lost lease is released, too: that shows other
    /// processes that the call of this one has ended. A second call does nothing.
    func release() async
}
