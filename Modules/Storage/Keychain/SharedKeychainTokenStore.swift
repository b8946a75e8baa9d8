public import AuthInterface
public import Foundation

/// A ``KeychainTokenStore`` for an application and its extensions: one refresh for all of them (G13).
///
/// A lease is an exclusive `flock` on a file they have in common; the system lets go of it when its holder dies. It
/// keeps other leases out, not plain calls: a user can sign out while an extension refreshes. A bundle that another
/// process has overtaken is not saved, lease or no lease.
///
/// - Important: iOS ends a process that is suspended while it holds a lock in the container of an app group (exception
///   code `0xdead10cc`). No token is lost by that, and the lock is let go; to avoid it, ask the system for background
///   time around work that may refresh.
public struct SharedKeychainTokenStore: TransitionalSharedStore {
    /// Where the item is.
    public var place: KeychainPlace { store.place }

    /// The file that is locked.
    public let lockFile: URL

    let store: KeychainTokenStore

    private let time: any TimeSource
    private let leasing = BlockingQueue(label: "token-item-leasing")

    init(store: KeychainTokenStore, lockFile: URL, time: any TimeSource) {
        self.store = store
        self.lockFile = lockFile
        self.time = time
    }

    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if it is certain that there is none.
    /// - Throws: ``TokenStoreError``, as ``KeychainTokenStore/load()``.
    public func load() async throws -> TokenBundle? { try await store.load() }

    /// Stores a bundle in place of any that is there.
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: ``TokenStoreError``, as ``KeychainTokenStore/save(_:)``.
    public func save(_ bundle: TokenBundle) async throws { try await store.save(bundle) }

    /// Removes the stored bundle.
    ///
    /// - Throws: ``TokenStoreError``, as ``KeychainTokenStore/delete()``.
    public func delete() async throws { try await store.delete() }

    /// Waits until no other holder has the store, and takes it.
    ///
    /// A lease is let go of when it is released, dropped, or its process dies. Waiters ask again and again, every
    /// twentieth of a second in the end; who comes first is left to chance.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The store as its holder uses it.
    /// - Throws: ``TokenStoreError``: `busy` when the limit passes first; `insecure` when the lock file is a symbolic
    ///   link, no regular file or somebody else's; `unavailable` when it cannot be opened, as before the first unlock.
    ///   `CancellationError` when the task is cancelled while it waits.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        let file = KeychainLockFile(lockFile)
        let lock = try await LeasePolling(time: time).wait(atMost: limit) {
            try await leasing.run { () throws(TokenStoreError) in try file.tryLease() }
        }
        return LockedTokenStoreLease(store: store, lock: lock)
    }
}

extension SharedKeychainTokenStore: CustomStringConvertible, CustomReflectable {
    /// Where the item and the lock file are.
    public var description: String { "SharedKeychainTokenStore(\(place), \(lockFile.path))" }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["place": "\(place)"], displayStyle: .struct) }
}
