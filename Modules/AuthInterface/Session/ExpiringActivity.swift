import ConcurrencyPrimitives

/// Asks the system to keep this process running while it does work that must not be suspended part-way, such as a
/// refresh that holds the lease of a shared store.
///
/// iOS suspends a process soon after it leaves the foreground. A process that is suspended while it holds a lock in the
/// container of an app group is ended by the system (`0xdead10cc`), and until then no other process gets the lock.
public protocol ExpiringActivity: Sendable {
    /// Starts an activity. It lasts until ``ExpiringActivityToken/end()``, or until the token is deallocated.
    ///
    /// - Parameters:
    ///   - reason: What the activity is for, in a few words. The system may log it: it must not contain a secret.
    ///   - onExpiry: Called at most once, on any thread, when the process is about to be suspended or cannot be kept
    ///     running at all, and never after the activity has ended. It must start to release what the activity holds
    ///     and must not block. The caller ends the token as soon as everything is released.
    /// - Returns: The token that ends the activity.
    func begin(_ reason: String, onExpiry: @escaping @Sendable () -> Void) -> ExpiringActivityToken
}

/// Ends an activity that ``ExpiringActivity/begin(_:onExpiry:)`` has started.
public final class ExpiringActivityToken: Sendable {
    private let ending: Locked<(@Sendable () -> Void)?>

    /// Creates a token, for your implementation of ``ExpiringActivity``. It calls the closure once.
    public init(onEnd: @escaping @Sendable () -> Void) { ending = Locked(onEnd) }

    deinit { end() }

    /// Ends the activity. It returns at once; a second call does nothing.
    public func end() { ending.withLock { $0.take() }?() }
}
