/// A caller that waits, its request, and since when it waits.
struct Waiter: Hashable, Sendable {
    let id: WaiterID
    /// `settle` also for the caller of a sign-in or a sign-out: it waits for the end of the work.
    let request: CallerRequest
    let since: Duration
}

/// The callers that wait for a response, each in one queue.
///
/// A caller enters once. It leaves when it is taken out, with its response or its cancellation, or to wait in another
/// queue: so no caller gets two responses. Their numbers rise, and they are served in that order.
struct Callers: Hashable, Sendable {
    /// What a caller waits for.
    enum Queue: Hashable, Sendable {
        /// The first read.
        case load
        /// The next published state.
        case publication
        /// The end of all work.
        case settle
        /// The check of the store under way.
        case check
        /// A check that starts later.
        case nextCheck
        /// The write of a version, or of a later one. A sign-in holds also if it fails.
        case write(version: Int, isSignIn: Bool)
        /// The refresh under way.
        case attempt
        /// The end of a pause, or of a sign-in that is being stored.
        case pause
    }

    /// A queue is here while callers wait in it.
    private var callers: [Queue: [WaiterID: Waiter]] = [:]

    func isEmpty(_ queue: Queue) -> Bool { callers[queue] == nil }

    /// Since when the one waits that has waited in a queue for the longest time.
    func earliest(at queue: Queue) -> Duration? { callers[queue]?.values.lazy.map(\.since).min() }

    mutating func add(_ waiter: Waiter, to queue: Queue) {
        precondition(callers.values.allSatisfy { $0[waiter.id] == nil }, "\(waiter.id) waits already")
        callers[queue, default: [:]][waiter.id] = waiter
    }

    /// Takes out one caller, wherever it waits. Returns whether it was here. One that was not has its response.
    mutating func remove(_ id: WaiterID) -> Bool {
        guard let queue = callers.first(where: { $0.value[id] != nil })?.key else { return false }
        callers[queue]?[id] = nil
        if callers[queue]?.isEmpty == true { callers[queue] = nil }
        return true
    }

    mutating func take(_ queues: Queue...) -> [Waiter] {
        let taken = queues.flatMap { callers.removeValue(forKey: $0)?.map(\.value) ?? [] }
        return taken.sorted { $0.id.number < $1.id.number }
    }

    /// Takes out the callers that have waited in a queue since an instant or longer.
    mutating func take(_ queue: Queue, since uptime: Duration) -> [Waiter] {
        let due = (callers[queue] ?? [:]).values.filter { $0.since <= uptime && remove($0.id) }
        return due.sorted { $0.id.number < $1.id.number }
    }

    /// Takes out the callers that wait for the write of a version or of an older one.
    mutating func takeWriters(upTo version: Int) -> [(id: WaiterID, isSignIn: Bool)] {
        var due: [(id: WaiterID, isSignIn: Bool)] = []
        for case .write(let wanted, let isSignIn) in callers.keys where wanted <= version {
            due += take(.write(version: wanted, isSignIn: isSignIn)).map { ($0.id, isSignIn) }
        }
        return due.sorted { $0.id.number < $1.id.number }
    }

    mutating func move(from queue: Queue, to other: Queue) {
        guard let moved = callers.removeValue(forKey: queue) else { return }
        callers[other, default: [:]].merge(moved) { caller, _ in caller }
    }
}
