import ConcurrencyPrimitives

/// Ends an activity that ``ExpiringActivity/begin(_:onExpiry:)`` has started.
public final class ExpiringActivityToken: Sendable {
    private let ending: Locked<(@Sendable () -> Void)?>

    /// Creates a token, for an ``ExpiringActivity`` of your own.
    ///
    /// - Parameter onEnd: Ends the activity. It is called once.
    public init(onEnd: @escaping @Sendable () -> Void) {
        ending = Locked(onEnd)
    }

    deinit { end() }

    /// Ends the activity. It returns at once; a second call does nothing.
    public func end() {
        let onEnd: (@Sendable () -> Void)? = ending.withLock { ending in
            defer { ending = nil }
            return ending
        }
        onEnd?()
    }
}
