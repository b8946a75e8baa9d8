import AuthInterface

/// The wait for a lock that another process has: no system tells when it is let go, so one asks again.
struct LeasePolling {
    /// The first pause. Each is twice the one before.
    static let shortestPause: Duration = .milliseconds(2)

    /// The longest pause: what a waiter may lose against the holder's `release`.
    static let longestPause: Duration = .milliseconds(50)

    let time: any TimeSource

    /// Asks for the lock until it is had.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most. Zero or less asks once.
    ///   - take: Takes the lock, or returns `nil` if somebody has it.
    /// - Returns: The lock.
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; `CancellationError`; what `take` throws.
    func wait(atMost limit: Duration, for take: () async throws -> FolderLock?) async throws -> FolderLock {
        let deadline = time.uptime + limit
        var pause = Self.shortestPause
        while true {
            if let lock = try await take() { return lock }
            let now = time.uptime
            guard now < deadline else { throw TokenStoreError.busy }
            try await time.sleep(until: min(deadline, now + pause))
            pause = min(pause * 2, Self.longestPause)
            // A clock that does not look for cancellation must not make us take what nobody waits for.
            try Task.checkCancellation()
        }
    }
}
