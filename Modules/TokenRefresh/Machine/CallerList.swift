/// A value for each caller, in the order of the callers' numbers.
///
/// The numbers of callers rise, and they are served in that order: so nearly every caller is added at the end and
/// leaves from the start, and any other is found by halving. A crowd needs no table of hashes, which takes room twice
/// as it grows.
struct CallerList<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let id: WaiterID
        /// `nil`: the caller has left.
        var value: Value?
    }

    private var entries: [Entry] = []
    /// Where the first caller is that has not left.
    private var first = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The callers and their values, in their order.
    var present: some Sequence<(id: WaiterID, value: Value)> {
        entries[first...].lazy.compactMap { entry in entry.value.map { (entry.id, $0) } }
    }

    /// Adds a caller.
    ///
    /// - Returns: Whether it was not there.
    /// - Complexity: O(1) for one that comes last, amortized; otherwise O(n).
    mutating func add(_ value: Value, for id: WaiterID) -> Bool {
        let entry = Entry(id: id, value: value)
        if let last = entries.indices.last, entries[last].id.number >= id.number {
            let index = entries.firstPlace { $0.id.number >= id.number }
            if entries[index].id != id {
                entries.insert(entry, at: index)
            } else if entries[index].value == nil {
                entries[index] = entry
            } else {
                return false
            }
            first = min(first, index)
        } else {
            // Those that have left go before the list grows.
            if entries.count >= 2 * count + 16 {
                entries.removeAll { $0.value == nil }
                first = 0
            }
            entries.append(entry)
        }
        count += 1
        return true
    }

    /// Takes out a caller.
    ///
    /// - Returns: Its value. `nil`: it is not there.
    /// - Complexity: O(1) for the one that came first, amortized; otherwise O(log n).
    mutating func remove(_ id: WaiterID) -> Value? {
        let isFirst = first < entries.count && entries[first].id == id
        let index = isFirst ? first : entries.firstPlace { $0.id.number >= id.number }
        guard index < entries.count, entries[index].id == id, let value = entries[index].value else { return nil }
        entries[index].value = nil
        left(1)
        return value
    }

    /// Takes out the callers whose values are due, and hands over each, in their order.
    ///
    /// - Complexity: O(n).
    mutating func take(where isDue: (Value) -> Bool, _ body: (WaiterID, Value) -> Void) {
        var taken = 0
        for index in first..<entries.count {
            guard let value = entries[index].value, isDue(value) else { continue }
            entries[index].value = nil
            taken += 1
            body(entries[index].id, value)
        }
        left(taken)
    }

    /// Changes the values of all callers.
    ///
    /// - Complexity: O(n).
    mutating func change(_ body: (inout Value) -> Void) {
        for index in first..<entries.count {
            guard var value = entries[index].value else { continue }
            body(&value)
            entries[index].value = value
        }
    }

    private mutating func left(_ number: Int) {
        count -= number
        // A crowd that has gone leaves no large list behind.
        if isEmpty { return self = CallerList() }
        while entries[first].value == nil { first += 1 }
    }
}

extension CallerList: Equatable where Value: Equatable {
    static func == (one: CallerList, other: CallerList) -> Bool {
        one.count == other.count && zip(one.present, other.present).allSatisfy { $0 == $1 }
    }

}

extension CallerList: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (id, value) in present {
            hasher.combine(id)
            hasher.combine(value)
        }
    }
}

extension Array {
    /// The first place from which on a condition holds for all elements; `count`: there is none.
    fileprivate func firstPlace(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
