import ConcurrencyPrimitives

/// Limits how many exchanges run at a time. They are served in order.
///
/// - Complexity: Every operation is O(1), amortised.
package final class ExchangeLane: Sendable {
    private struct State {
        var free: Int
        var waiting = WaitQueue<ObjectIdentifier, @Sendable () -> Void>()
    }

    private let state: Locked<State>

    /// Creates a lane.
    package init(limit: Int) { state = Locked(State(free: limit)) }

    /// Calls a closure when there is room: at once, or when another exchange ends. After it, ``release()`` must be
    /// called once. Returns whether there was room.
    package func acquire(for exchange: AnyObject, granted: @escaping @Sendable () -> Void) -> Bool {
        let hasRoom = state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return true
            }
            state.waiting.append(granted, for: ObjectIdentifier(exchange))
            return false
        }
        if hasRoom { granted() }
        return hasRoom
    }

    /// Stops the wait of an exchange. One that does not wait is left as it is.
    package func cancel(_ exchange: AnyObject) {
        // What the closure holds is released outside the lock.
        _ = state.withLock { $0.waiting.remove(ObjectIdentifier(exchange)) }
    }

    /// Makes room for the next exchange.
    package func release() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            if let next = state.waiting.popFirst() { return next.waiter }
            state.free += 1
            return nil
        }
        next?()
    }
}
