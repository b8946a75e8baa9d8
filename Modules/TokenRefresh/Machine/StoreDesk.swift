import AuthInterface

/// What the store should hold, and how far it has got there.
///
/// The desk is a register, not a queue: only the newest content matters, and at most one write is on its way. So a
/// logout that comes while a refresh is being saved needs no cancellation: when the save is done the desk finds that
/// it wants something newer and writes that.
struct StoreDesk {
    private(set) var version = 0
    private(set) var settled = 0
    private(set) var failures = 0
    private(set) var waiters: [WaiterID: Int] = [:]
    private var content: StoreContent?
    private var writing: Int?

    /// Whether the store lacks what it should hold.
    var isBehind: Bool { settled < version }

    /// Puts down what the store should hold from now on.
    mutating func want(_ content: StoreContent) -> Int {
        version += 1
        self.content = content
        return version
    }

    /// Takes the next write, if there is one to make and none is on its way.
    mutating func next() -> (version: Int, content: StoreContent)? {
        guard writing == nil, isBehind, let content else { return nil }
        writing = version
        return (version, content)
    }

    /// Notes that somebody waits for the current version to be written.
    mutating func wait(_ waiter: WaiterID) {
        waiters[waiter] = version
    }

    /// Forgets a waiter.
    mutating func remove(_ waiter: WaiterID) -> Bool {
        waiters.removeValue(forKey: waiter) != nil
    }

    /// Takes out those who wait for a version or an older one.
    mutating func takeWaiters(upTo version: Int) -> [WaiterID] {
        let served = waiters.filter { $0.value <= version }.map(\.key)
        for waiter in served { waiters[waiter] = nil }
        return served.sorted { $0.number < $1.number }
    }

    /// Notes how a write ended. A write that found something newer in the store is as settled as one that went in.
    mutating func finish(_ version: Int, succeeded: Bool) {
        if writing == version { writing = nil }
        if succeeded {
            settled = max(settled, version)
            failures = 0
        } else {
            failures += 1
        }
    }

    /// Notes that the store already holds what is wanted, or that nothing is wanted of it any more.
    mutating func settle() {
        settled = version
    }
}
