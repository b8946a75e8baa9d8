/// The callers that wait, their requests, and since when they wait.
struct Waiters: Hashable, Sendable {
    struct Waiter: Hashable, Sendable {
        let id: WaiterID
        let request: CallerRequest
        let since: Duration
    }

    private var waiters: [WaiterID: Waiter] = [:]

    var isEmpty: Bool { waiters.isEmpty }

    mutating func add(_ waiter: Waiter) { waiters[waiter.id] = waiter }

    /// - Returns: Whether the caller waited here.
    mutating func remove(_ id: WaiterID) -> Bool { waiters.removeValue(forKey: id) != nil }

    /// Since when the one waits that has waited for the longest time.
    var earliest: Duration? { waiters.values.lazy.map(\.since).min() }

    /// Takes out all, in the order in which they came.
    mutating func takeAll() -> [Waiter] {
        guard !waiters.isEmpty else { return [] }
        defer { waiters = [:] }
        return waiters.values.sorted { $0.id.number < $1.id.number }
    }

    /// Takes out those that have waited since an instant or longer, in the order in which they came.
    mutating func takeAll(since uptime: Duration) -> [Waiter] {
        let due = waiters.values.filter { $0.since <= uptime }.sorted { $0.id.number < $1.id.number }
        for waiter in due { waiters[waiter.id] = nil }
        return due
    }
}

typealias Waiter = Waiters.Waiter
