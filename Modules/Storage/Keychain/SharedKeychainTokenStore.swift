public import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// A ``KeychainTokenStore`` for an application and its extensions: one refresh for all of them (G13).
///
/// **The lease** is an exclusive `flock` on a file; the kernel releases it when its holder ends. It excludes other
/// leases, not updates: a user can sign out while an extension refreshes.
///
/// **An update** holds a second lock from its read to its write, so that processes update one after another. When a
/// session ends, a tombstone replaces its tokens in the item, which the other processes read.
///
/// **Changes** are reported to the other processes by a Darwin notification. A suspended process is notified when it
/// runs again, which may be after its first request: call `restore()` of the session when the application becomes
/// active.
///
/// - Important: iOS ends a process that is suspended while it holds a lock in the container of an app group (exception
///   code `0xdead10cc`). See <doc:SharingAKeychainItem> for how the engine prevents it.
public struct SharedKeychainTokenStore: SharedTokenStore {
    var location: KeychainLocation { store.location }
    let lockFile: URL
    let store: KeychainTokenStore
    private let clock: any TimeSource
    private let signal: any ChangeSignal
    private let leasing = BlockingQueue(label: "token-item-leasing")

    init(store: KeychainTokenStore, lockFile: URL, clock: any TimeSource, signal: any ChangeSignal) {
        self.store = store
        self.lockFile = lockFile
        self.clock = clock
        self.signal = signal
    }

    /// Reads the stored session, or the tombstone of an ended one; `.empty` if it is certain that nothing is stored. An
    /// item at an earlier location is moved first.
    ///
    /// - Throws: `TokenStoreError`, as ``KeychainTokenStore/load()``.
    public func read() async throws -> StoredSession { try await store.read() }

    /// Reads what is stored, decides and writes, as one step that no other process can interrupt. An item that the
    /// Keychain cannot decrypt is passed as a failure with code `corrupt`.
    ///
    /// - Throws: `TokenStoreError`; the stored content is then unchanged: `unsupportedVersion`; `unavailable` with
    ///   a ``KeychainStatus`` as its cause, `errSecItemNotFound` while protected data is not available included;
    ///   `busy` when another process has been writing for 10 seconds; `insecure` for the lock file.
    public func update(_ change: @escaping StoreChange) async throws {
        let isWritten = Locked(false)
        try await store.update { found in
            let new = change(found)
            isWritten.withLock { $0 = new != nil }
            return new
        }
        if isWritten.withLock({ $0 }) { signal.post() }
    }

    /// Removes the item without reading it, and the items at its earlier locations.
    ///
    /// - Throws: `TokenStoreError`, as ``KeychainTokenStore/delete()``.
    public func delete() async throws {
        try await store.delete()
        signal.post()
    }

    /// Reports that the item may have changed, by this process or another one.
    ///
    /// Each access makes a new stream. A suspended process gets no report until it runs again.
    public var changes: AsyncStream<Void> { signal.reports }

    /// Waits until no other holder has the lease, and takes it.
    ///
    /// A lease is released by its holder, when it is deallocated, or when its process ends. Waiters try again after
    /// pauses of at most 50 ms, and get it in no particular order. A waiter holds no lock and can be suspended.
    ///
    /// - Throws: `TokenStoreError`: `busy` when the limit passes first; `insecure` when the lock file is a symbolic
    ///   link, not a regular file or another user's; `unavailable` when it cannot be opened, as before the first
    ///   unlock. `CancellationError` when the task is cancelled while it waits.
    public func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        let file = KeychainLockFile(lockFile)
        let polling = LeasePolling(clock: clock, holder: { await leasing.run { file.leaseHolder() } }, report: report)
        let lock = try await polling.wait(atMost: limit) {
            try await leasing.run { () throws(TokenStoreError) in try file.tryLease() }
        }
        return LockedTokenStoreLease(lock: lock)
    }
}

extension SharedKeychainTokenStore: RedactedDescription {
    /// The location of the item, and the lock file.
    public var description: String { "SharedKeychainTokenStore(\(location), \(lockFile.path))" }
}
