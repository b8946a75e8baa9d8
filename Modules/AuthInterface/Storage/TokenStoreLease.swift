/// The right to refresh the session of a shared store, held by one process at a time.
public protocol TokenStoreLease: Sendable {
    /// Whether the process that recorded an intent may still be waiting for the response to its call, although this
    /// process now has the lease.
    ///
    /// `false` when the lease proves the opposite: the owner released it, or the kernel of this host did when the owner
    /// died. `true` otherwise, as with a lease that expired, or an owner on another host.
    ///
    /// - Parameter owner: The process that recorded the intent.
    /// - Returns: Whether its call may still be under way.
    func mayStillCall(_ owner: ProcessIdentity) -> Bool

    /// Whether another process may have the lease by now, although this one has not released it. The engine makes no
    /// call then.
    ///
    /// A lock of the kernel is lost with its process only: `false`. A claim that expires unless it is renewed is lost
    /// when another process has taken it, or when its last renewal is longer ago than it lasts. It must not block.
    var isLost: Bool { get }

    /// Releases the lease, so that the next process can take it. A lost lease is released, too: that shows other
    /// processes that the call of this one has ended. A second call does nothing.
    func release() async
}
