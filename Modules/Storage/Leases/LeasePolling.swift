import AuthInterface
import ConcurrencyPrimitives

/// The wait for a lock of another process. No system reports its release, so the waiter tries again after pauses.
struct LeasePolling {
    /// The pauses, without jitter. The longest is the delay between a release and the next attempt.
    static let pauses = Backoff(base: .milliseconds(2), limit: .milliseconds(50), floor: .zero)

    /// How often a waiter looks up the holder.
    static let lookUpPause: Duration = .seconds(1)

    let clock: any TimeSource

    /// The process that has the lock, if it is known.
    var holder: () async -> LeaseHolder? = { nil }
    var report: (LeaseHolder) -> Void = { _ in }

    /// Tries to take the lock until it is taken, or `busy` after the limit; once with a limit of zero or less.
    /// `longestPause`, a bound of the next pause, is called before each. `take` returns `nil` while the lock is held.
    func wait(
        atMost limit: Duration, pausingAtMost longestPause: () -> Duration = { pauses.limit },
        for take: () async throws -> FolderLock?
    ) async throws -> FolderLock {
        let deadline = clock.uptime + limit
        var attempts = 0
        var known: LeaseHolder?
        var nextLookUp = clock.uptime
        while true {
            if let lock = try await take() { return lock }
            attempts += 1
            let now = clock.uptime
            if now >= min(nextLookUp, deadline) {
                nextLookUp = now + Self.lookUpPause
                let found = await holder()
                if let found, found != known { report(found) }
                known = found
            }
            guard now < deadline else { throw TokenStoreError.busy(known) }
            let pause = min(Self.pauses.bound(afterFailures: attempts), longestPause())
            try await clock.sleep(until: min(deadline, now + pause))
            // A clock that ignores cancellation must not make a cancelled waiter take the lock.
            try Task.checkCancellation()
        }
    }
}
