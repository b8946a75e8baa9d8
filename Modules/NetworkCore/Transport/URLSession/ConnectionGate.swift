import ConcurrencyPrimitives

/// Lets a limited number in at a time, first come, first served.
///
/// - Complexity: Every operation is O(1), amortised.
package final class ConnectionGate: Sendable {
    private struct State {
        var free: Int
        var turns: [ObjectIdentifier: @Sendable () -> Void] = [:]
        /// Who waits, in order. One that withdrew is no longer in `turns`, and is skipped.
        var order: Queue<ObjectIdentifier> = Queue()
    }

    private let state: Locked<State>

    package init(limit: Int) {
        state = Locked(State(free: limit))
    }

    /// Calls a closure when it is its turn: at once while there is room. After it, ``leave()`` must be called once.
    ///
    /// - Parameters:
    ///   - visitor: Identifies the turn.
    ///   - turn: Is called outside the lock, by this call or by another visitor that leaves.
    /// - Returns: Whether there was room.
    @discardableResult
    package func enter(_ visitor: AnyObject, turn: @escaping @Sendable () -> Void) -> Bool {
        let id = ObjectIdentifier(visitor)
        let hasRoom = state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return true
            }
            state.turns[id] = turn
            state.order.append(id)
            return false
        }
        if hasRoom { turn() }
        return hasRoom
    }

    /// Gives up a turn that has not come.
    package func withdraw(_ visitor: AnyObject) {
        state.withLock { _ = $0.turns.removeValue(forKey: ObjectIdentifier(visitor)) }
    }

    /// Lets the next one in.
    package func leave() {
        let turn = state.withLock { state -> (@Sendable () -> Void)? in
            while let id = state.order.popFirst() {
                if let turn = state.turns.removeValue(forKey: id) { return turn }
            }
            state.free += 1
            return nil
        }
        turn?()
    }
}

/// A first-in, first-out queue.
///
/// - Complexity: Every operation is O(1), amortised.
struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 64)
            head = 0
        } else if head >= 64, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}

extension Queue: Sendable where Element: Sendable {}
