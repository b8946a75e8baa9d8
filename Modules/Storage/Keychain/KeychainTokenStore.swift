public import AuthInterface
public import ConcurrencyPrimitives
public import Foundation

/// Keeps the tokens of one account in the Keychain of an Apple device.
///
/// **The item** is a generic password under a service and an account, readable from the first unlock on and on this
/// device only, in the data-protection Keychain unless its ``KeychainLocation`` says otherwise. What is in it has a
/// version: an item of a later one (`unsupportedVersion`) is touched by nothing but ``delete()``.
///
/// **Writing** updates the item, and adds one only if there is none. It never deletes in order to add, so a process
/// that is killed leaves the old bundle or the new one (G12). Calls run to their end on a thread of their own, even
/// when the task that waits for them is cancelled.
///
/// **Three answers** (G14). Every status besides "found" and "not found" is *unavailable*: locked,
/// denied, not entitled, not decrypted. And "not found" is *none* only if protected data was available before the
/// Keychain was asked, for an application that iOS starts ahead of time, before the first unlock, finds nothing.
///
/// **An item that cannot be read as tokens** is reported with code `corrupt` by every ``load()`` until ``save(_:)``
/// replaces or ``delete()`` removes it.
///
/// **Several processes** need ``shared(lockFile:time:)``. Without it, make one store for an account and hand its copies
/// around: all copies are the same store.
public struct KeychainTokenStore: TokenStore {
    /// Where the item is.
    public var location: KeychainLocation { item.location }

    let item: TokenItem

    private let isProtectedDataAvailable: @Sendable () async -> Bool

    // Apart, so that a load never waits for a save that waits for another process.
    private let reading = BlockingQueue(label: "token-item-reading")
    private let writing = BlockingQueue(label: "token-item-writing")

    init(item: TokenItem, isProtectedDataAvailable: @escaping @Sendable () async -> Bool) {
        self.item = item
        self.isProtectedDataAvailable = isProtectedDataAvailable
    }

    /// Reads the stored bundle, after having moved it here from where it was before, if need be.
    ///
    /// - Returns: The bundle, or `nil` if it is certain that there is none.
    /// - Throws: ``TokenStoreError`` with code `corrupt`, `unsupportedVersion`, or `unavailable` with a
    ///   ``KeychainStatus`` as its cause: any but `errSecSuccess`, and `errSecItemNotFound` while protected data is not
    ///   available; if it is shared, also `busy` and `insecure` for the lock file.
    public func load() async throws -> TokenBundle? { try await read().bundle }

    /// As ``load()``, with the note of an ended session.
    func read() async throws -> StoredSession {
        try await settleInstall()
        switch try await reading.run({ [item] () throws(TokenStoreError) in try item.look() }) {
        case .session(let session): return session
        case .olderFormat: break
        case .notFound:
            // Asked first, and the Keychain again: the other way round, the device may be unlocked in between.
            guard await isProtectedDataAvailable() else { throw TokenStoreError.notCertain(location) }
        }
        return try await writing.run { [item] () throws(TokenStoreError) in try item.readOrMove() }
    }

    /// Reads, decides and writes as one step.
    ///
    /// Protected data is asked for only if nothing is found, and before the Keychain is asked again.
    func update(
        _ change: @escaping @Sendable (Result<StoredSession, TokenStoreError>) -> StoredSession?
    ) async throws {
        try await settleInstall()
        for isAsked in [false, true] {
            let isAvailable = isAsked ? await isProtectedDataAvailable() : nil
            let isDone = try await writing.run { [item] () throws(TokenStoreError) in
                try item.update(isProtectedDataAvailable: isAvailable, change)
            }
            if isDone { return }
        }
    }

    /// Stores a bundle in place of any that is there.
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: ``TokenStoreError``, with what was stored before still there: `superseded` when a later bundle of the
    ///   same session is there; `unsupportedVersion`; `unavailable` with a ``KeychainStatus`` as its cause, of which
    ///   `errSecDuplicateItem` means that the Keychain neither finds the item nor adds another; if it is shared, also
    ///   `busy` when another process has been writing for 5 seconds, and `insecure` for the lock file.
    public func save(_ bundle: TokenBundle) async throws {
        try await settleInstall()
        try await writing.run { [item] () throws(TokenStoreError) in try item.save(bundle) }
    }

    /// Removes the item without reading it, and what is left where it was before.
    ///
    /// - Throws: ``TokenStoreError``, with the stored bundle still there: `unavailable` with a ``KeychainStatus`` as
    ///   its cause, as for ``load()``; if it is shared, also `busy` and `insecure` for the lock file.
    public func delete() async throws {
        let isAvailable = await isProtectedDataAvailable()
        try await writing.run { [item] () throws(TokenStoreError) in
            try item.delete(isProtectedDataAvailable: isAvailable)
        }
    }

    /// The store for an application and its extensions, which have the item's access group in common (G13).
    ///
    /// - Parameters:
    ///   - lockFile: A file in a folder they have in common, the container of an app group. It is made when it is
    ///     missing, is never written to, and must never be removed. Each account needs one of its own.
    ///   - clock: The clocks that limit the wait for a lease.
    /// - Returns: The same store, shared.
    public func shared(
        lockFile: URL,
        clock: any TimeSource = SystemTimeSource()
    ) -> SharedKeychainTokenStore {
        shared(lockFile: lockFile, clock: clock, signal: Self.signal(for: location))
    }

    func shared(lockFile: URL, clock: any TimeSource, signal: any ChangeSignal) -> SharedKeychainTokenStore {
        var item = item
        item.lockFile = KeychainLockFile(lockFile)
        return SharedKeychainTokenStore(
            store: KeychainTokenStore(item: item, isProtectedDataAvailable: isProtectedDataAvailable),
            lockFile: lockFile,
            clock: clock,
            signal: signal
        )
    }

    private static func signal(for location: KeychainLocation) -> any ChangeSignal {
        #if canImport(notify)
        DarwinChangeSignal(name: ChangeName.of(location))
        #else
        AbsentChangeSignal()
        #endif
    }

    /// Removes what an earlier installation has left. Protected data is asked for first: only then does a marker that
    /// is not found say anything.
    private func settleInstall() async throws {
        guard item.needsSettling else { return }
        let isAvailable = await isProtectedDataAvailable()
        try await writing.run { [item] () throws(TokenStoreError) in
            try item.settleInstall(isProtectedDataAvailable: isAvailable)
        }
    }
}

extension KeychainTokenStore: CustomStringConvertible, CustomReflectable {
    /// Where the item is.
    public var description: String { "KeychainTokenStore(\(location))" }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["location": "\(location)"], displayStyle: .struct) }
}
