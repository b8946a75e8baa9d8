public import AuthInterface
public import ConcurrencyPrimitives
public import Foundation

/// Keeps the tokens of one account in the Keychain of an Apple device.
///
/// **The item** is a generic password with a service and an account, readable from the first unlock on and on this
/// device only, in the data-protection Keychain unless its ``KeychainLocation`` says otherwise. An item of a later
/// version of the format (`unsupportedVersion`) is changed by ``delete()`` only.
///
/// **Writing** updates the item, and adds a missing one. It never deletes in order to add, so a process
/// that is killed leaves the old bundle or the new one (G12). A call runs to its end on a separate thread, even when
/// the task that waits for it is cancelled.
///
/// **Reading** (G14). Every status except "found" and "not found" is *unavailable*: locked, denied, not entitled, not
/// decrypted. "Not found" is *none* only if protected data was available before the Keychain was read: an application
/// that iOS starts before the first unlock finds no item.
///
/// **An item that cannot be read as tokens** is reported with code `corrupt` by every ``load()`` until ``save(_:)``
/// replaces or ``delete()`` removes it.
///
/// **Several processes** need ``shared(lockFile:clock:)``. Without it, make one store for each account and copy it: all
/// copies are the same store.
public struct KeychainTokenStore: TokenStore {
    var location: KeychainLocation { item.location }

    let item: TokenItem

    private let isProtectedDataAvailable: @Sendable () async -> Bool

    // Separate queues, so that a load never waits for a save that waits for another process.
    private let reading = BlockingQueue(label: "token-item-reading")
    private let writing = BlockingQueue(label: "token-item-writing")

    init(item: TokenItem, isProtectedDataAvailable: @escaping @Sendable () async -> Bool) {
        self.item = item
        self.isProtectedDataAvailable = isProtectedDataAvailable
    }

    /// Reads the stored bundle; `nil` if it is certain that none is stored. If it is at an earlier location, it is
    /// moved first.
    ///
    /// - Throws: `TokenStoreError` with code `corrupt`, `unsupportedVersion`, or `unavailable` with a
    ///   ``KeychainStatus`` as its cause: any except `errSecSuccess`, and `errSecItemNotFound` only while protected
    ///   data is not available; if it is shared, also `busy` and `insecure` for the lock file.
    public func load() async throws -> TokenBundle? { try await read().bundle }

    /// As ``load()``, or the tombstone of an ended session.
    func read() async throws -> StoredSession {
        try await checkInstallation()
        switch try await reading.run({ [item] () throws(TokenStoreError) in try item.readOwn() }) {
        case .session(let session): return session
        case .olderFormat: break
        case .notFound:
            // Then the Keychain is read again: the device may have been unlocked since the first read.
            guard await isProtectedDataAvailable() else { throw TokenStoreError.notCertain(location) }
        }
        return try await writing.run { [item] () throws(TokenStoreError) in try item.readOrMove() }
    }

    /// Reads, decides and writes as one step.
    ///
    /// Whether protected data is available is asked only if nothing is found, and then the Keychain is read again.
    func update(_ change: @escaping StoreChange) async throws {
        try await checkInstallation()
        for isAsked in [false, true] {
            let isAvailable = isAsked ? await isProtectedDataAvailable() : nil
            let isDone = try await writing.run { [item] () throws(TokenStoreError) in
                try item.update(isProtectedDataAvailable: isAvailable, change)
            }
            if isDone { return }
        }
    }

    /// Stores a bundle. It replaces the stored one.
    ///
    /// - Throws: `TokenStoreError`; the stored content is then unchanged: `superseded` when a later bundle of the same
    ///   session is stored, or the session has ended; `unsupportedVersion`; `unavailable` with a
    ///   ``KeychainStatus`` as its cause, of which `errSecDuplicateItem` means that the Keychain neither finds the item
    ///   nor adds another; if it is shared, also `busy` when another process has been writing for 10 seconds, and
    ///   `insecure` for the lock file.
    public func save(_ bundle: TokenBundle) async throws {
        try await checkInstallation()
        try await writing.run { [item] () throws(TokenStoreError) in try item.save(bundle) }
    }

    /// Removes the item without reading it, and the items at its earlier locations.
    ///
    /// - Throws: `TokenStoreError`; the stored content is then unchanged: `unavailable` with a ``KeychainStatus`` as
    ///   its cause, as for ``load()``; if it is shared, also `busy` and `insecure` for the lock file.
    public func delete() async throws {
        let isAvailable = await isProtectedDataAvailable()
        try await writing.run { [item] () throws(TokenStoreError) in
            try item.delete(isProtectedDataAvailable: isAvailable)
        }
    }

    /// The store for an application and its extensions, which have the item's access group in common (G13).
    ///
    /// The lock file is in the container of their app group. It is created if it is missing, stays empty, and must not
    /// be removed. Each account needs a separate file. The clock limits the wait for a lease.
    public func shared(lockFile: URL, clock: any TimeSource = SystemTimeSource()) -> SharedKeychainTokenStore {
        shared(lockFile: lockFile, clock: clock, signal: Self.signal(for: location))
    }

    func shared(lockFile: URL, clock: any TimeSource, signal: any ChangeSignal) -> SharedKeychainTokenStore {
        var item = item
        item.lockFile = KeychainLockFile(lockFile)
        let store = KeychainTokenStore(item: item, isProtectedDataAvailable: isProtectedDataAvailable)
        return SharedKeychainTokenStore(store: store, lockFile: lockFile, clock: clock, signal: signal)
    }

    private static func signal(for location: KeychainLocation) -> any ChangeSignal {
        #if canImport(notify)
        DarwinChangeSignal(name: ChangeName.of(location))
        #else
        AbsentChangeSignal()
        #endif
    }

    /// Removes the items of an earlier installation.
    private func checkInstallation() async throws {
        guard item.needsInstallationCheck else { return }
        let isAvailable = await isProtectedDataAvailable()
        try await writing.run { [item] () throws(TokenStoreError) in
            try item.checkInstallation(isProtectedDataAvailable: isAvailable)
        }
    }
}

extension KeychainTokenStore: RedactedDescription {
    /// The location of the item.
    public var description: String { "KeychainTokenStore(\(location))" }
}
