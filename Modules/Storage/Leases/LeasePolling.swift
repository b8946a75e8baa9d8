import AuthInterface
import ConcurrencyPrimitives

/// The wait for a lock that another process has: no system reports its release, so the waiter tries again and again.
struct LeasePolling {
    /// The first pause. Each is twice the one before.
    static let shortestPause: Duration = .milliseconds(2)

    /// The longest pause by default: the delay between the holder's release and the next attempt.
    static let longestPause: Duration = .milliseconds(50)

    let clock: any TimeSource

    /// Tries to take the lock until it is taken.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most. Zero or less tries once.
    ///   - longestPause: The longest pause at the moment.
    ///   - take: Takes the lock, or returns `nil` if it is held.
    /// - Returns: The lock.
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; `CancellationError`; what `take` throws.
    func wait(
        atMost limit: Duration,
        pausingAtMost longestPause: () -> Duration = { longestPause },
        for take: () async throws -> FolderLock?
    ) async throws -> FolderLock {
        let deadline = clock.uptime + limit
        var pause = Self.shortestPause
        while true {
            if let lock = try await take() { return lock }
            let now = clock.uptime
            guard now < deadline else { throw TokenStoreError.busy }
            pause = min(pause, longestPause())
            try await clock.sleep(until: min(deadline, now + pause))
            pause = pause * 2
            // A clock that ignores cancellation must not make a cancelled waiter take the lock.
            try Task.checkCancellation()
        }
    }
}
