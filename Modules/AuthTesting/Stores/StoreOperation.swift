/// An operation of a token store that ``FaultyTokenStore`` counts, delays or fails.
public enum StoreOperation: Sendable, Hashable, CaseIterable {
    /// ``TokenStore/load()`` and ``SharedTokenStore/read()``.
    case load
    /// ``TokenStore/save(_:)``, and a ``SharedTokenStore/update(_:)`` that saves.
    case save
    /// A save of a bundle with a pending refresh: the intent, before the call.
    case record
    /// ``TokenStore/delete()``, and an update that ends the session.
    case delete
    /// ``SharedTokenStore/lease(waitingAtMost:)``.
    case lease
    /// ``TokenStoreLease/release()``. It cannot fail.
    case release

    /// When a call waits at a gate.
    public enum Moment: Sendable, Hashable {
        /// Before the operation.
        case before
        /// After the operation, before its result is returned.
        case after
    }
}
