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
    private var writing: (version: Int, content: StoreContent)?
    /// The version whose deadline is running.
    private var timed: Int?

    /// Whether the store lacks what it should hold.
    var isBehind: Bool { isBehind(version) }

    /// Whether the store lacks a version, and every later one.
    func isBehind(_ version: Int) -> Bool { settled < version }

    /// Puts down what the store should hold from now on.
    mutating func want(_ content: StoreContent) -> Int {
        version += 1
        self.content = content
        return version
    }

    /// Takes the next write, if there is one to make and none is on its way.
    mutating func next() -> (version: Int, content: StoreContent)? {
        guard writing == nil, isBehind, let content else { return nil }
        writing = (version, content)
        return writing
    }

    /// Whether a deadline must be set for the current version, which is not stored yet: a write before it may hang, so
    /// it counts from the wish and not from the write.
    mutating func mustTime() -> Bool {
        guard isBehind, timed != version else { return false }
        timed = version
        return true
    }

    /// Notes that a deadline has passed.
    mutating func timeOut(_ version: Int) {
        if timed == version { timed = nil }
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
    ///
    /// - Returns: The bundle that was on its way.
    @discardableResult
    mutating func finish(_ version: Int, succeeded: Bool) -> TokenBundle? {
        timeOut(version)
        let bundle = writing?.version == version ? writing?.content.bundle : nil
        if writing?.version == version { writing = nil }
        guard succeeded else {
            failures += 1
            return bundle
        }
        settled = max(settled, version)
        failures = 0
        // From now on the store has held the session. What it holds when the newer bundle gets there may be a later
        // login of another process, which must stay.
        if let bundle, let newer = content?.bundle, newer.session == bundle.session {
            content = .bundle(newer, over: .sameSession)
        }
        return bundle
    }

    /// Notes that nothing is wanted of the store any more.
    mutating func settle() {
        settled = version
    }
}
