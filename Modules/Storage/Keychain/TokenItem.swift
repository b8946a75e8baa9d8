import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The item of one account: the blocking calls of ``KeychainTokenStore``.
struct TokenItem: Sendable {
    /// The content of the item's own location.
    enum OwnContent: Sendable {
        case session(StoredSession)

        /// Tokens in a format of the application's own, which ``readOrMove()`` rewrites.
        case olderFormat

        /// Not found. That is not certain yet.
        case notFound
    }

    private struct Progress {
        var isInstallationChecked = false
        var arePredecessorsRemoved = false
    }

    /// How often a save tries to update and then to add, while other processes delete and add.
    static let saveAttempts = 3

    /// The most items of one service and account that a Mac's file-based Keychain is expected to have.
    static let maximumItems = 100

    let items: any KeychainItems
    let location: KeychainLocation

    /// Earlier locations, newest first. None of them covers the item's own location.
    let predecessors: [KeychainPredecessor]

    /// Readers of the application's own formats, for the item's own location.
    let olderReaders: [KeychainPredecessor.Reader]

    let accessibility: KeychainAccessibility
    let marker: InstallMarker?

    /// The write lock. `nil`: no other process has the item.
    var lockFile: KeychainLockFile?

    private let progress = Locked(Progress())

    init(
        items: any KeychainItems, location: KeychainLocation, accessibility: KeychainAccessibility,
        predecessors: [KeychainPredecessor], marker: InstallMarker?
    ) {
        let rename = { (location: KeychainLocation) in
            items.hasFileBasedKeychain ? location : location.inTheOnlyKeychain
        }
        let ownLocation = rename(location)
        let renamed = predecessors.map { $0.renamed(rename) }
        self.items = items
        self.location = ownLocation
        self.accessibility = accessibility
        self.marker = marker
        // After a move, removing a predecessor that covers the item would remove the item.
        self.predecessors = renamed.filter { !$0.locations.contains(where: ownLocation.covers) }
        olderReaders = renamed.compactMap { predecessor in
            guard case .item(let location, let reader) = predecessor.layout, ownLocation.covers(location) else {
                return nil
            }
            return reader
        }
    }

    /// Whether ``checkInstallation(isProtectedDataAvailable:)`` has something to do.
    var needsInstallationCheck: Bool { marker != nil && !progress.withLock { $0.isInstallationChecked } }

    /// Reads the item's own location. If it has a session, predecessors that a crash has left are removed.
    func readOwn() throws(TokenStoreError) -> OwnContent {
        guard let data = try read(location) else { return .notFound }
        let (session, isOlderFormat) = try decodeOwn(data)
        if isOlderFormat { return .olderFormat }
        removeLeftPredecessors()
        return .session(session)
    }

    /// Reads the item, or moves a predecessor to its location. Returns what is stored. `.empty` is certain if protected
    /// data was available *before* the call.
    func readOrMove() throws(TokenStoreError) -> StoredSession {
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        return try lockedRead()
    }

    /// As ``readOrMove()``, for a caller that holds the write lock.
    func lockedRead() throws(TokenStoreError) -> StoredSession {
        if let data = try read(location) {
            let (session, isOlderFormat) = try decodeOwn(data)
            if isOlderFormat { try put(try TokenEnvelope.encode(session)) }
            return session
        }
        for predecessor in predecessors {
            let session = try session(of: predecessor)
            guard session != .empty else { continue }
            try move(session)
            return session
        }
        return .empty
    }

    /// Stores a bundle in the item, and removes the predecessors.
    func save(_ bundle: TokenBundle) throws(TokenStoreError) {
        let data = try TokenEnvelope.encode(.active(bundle))
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        guard bundle.mayReplace(try readForReplacing()) else { throw .superseded(bundle) }
        try put(data)
        removeLeftPredecessors()
    }

    /// Removes the predecessors and then the item.
    func delete(isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        try removeEverything(isProtectedDataAvailable: isProtectedDataAvailable)
    }

    /// Removes the items of an earlier installation, once in each installation.
    ///
    /// A missing marker is certain only if protected data was available *before* the call. The marker is set last, and
    /// nothing is saved before it is set.
    func checkInstallation(isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        guard let marker, needsInstallationCheck else { return }
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        if try !certain(marker.isSet) {
            guard isProtectedDataAvailable else { throw markerIsNotCertain(nil) }
            try removeEverything(isProtectedDataAvailable: true)
            try certain(marker.set)
            guard try certain(marker.isSet) else { throw markerIsNotCertain(nil) }
        }
        progress.withLock { $0.isInstallationChecked = true }
    }

    /// Removes predecessors that a crash has left after a move. What cannot be removed now is left to the next call.
    func removeLeftPredecessors() {
        guard !predecessors.isEmpty, !progress.withLock({ $0.arePredecessorsRemoved }) else { return }
        do {
            try removePredecessors(isProtectedDataAvailable: true)
        } catch {
            return
        }
        progress.withLock { $0.arePredecessorsRemoved = true }
    }

    /// Updates the item, or adds a missing one. It is never deleted in between.
    func put(_ data: Data) throws(TokenStoreError) {
        let query = KeychainQuery(location: location)
        let values = KeychainValues(
            data: data, accessibility: location.keychain == .dataProtection ? accessibility : nil)
        for _ in 1...Self.saveAttempts {
            if try call("update", location, try items.update(query, to: values)) != nil { return }
            if try call("add", location, unless: [.duplicateItem], try items.add(query, values)) != nil { return }
        }
        throw .keychain(.duplicateItem, "save", location)
    }

    /// The data at a location. `nil`: not found.
    func read(_ location: KeychainLocation) throws(TokenStoreError) -> Data? {
        try call("read", location, try find(location))
    }

    /// Makes a call for an item: "could not ATTEMPT". `nil`: it ended with a status that is expected.
    func call<Value>(
        _ attempt: String, _ location: KeychainLocation, unless expected: [KeychainStatus] = [.itemNotFound],
        _ body: @autoclosure () throws(KeychainStatus) -> Value
    ) throws(TokenStoreError) -> Value? {
        do {
            return try body()
        } catch {
            guard expected.contains(error) else { throw .keychain(error, attempt, location) }
            return nil
        }
    }

    /// The content of the item, for a save. It is `.empty` if it cannot be decoded or decrypted, and may be replaced.
    private func readForReplacing() throws(TokenStoreError) -> StoredSession {
        let expected = [KeychainStatus.itemNotFound, .decodingFailed]
        guard let data = try call("read", location, unless: expected, try find(location)) else { return .empty }
        do {
            return try decode(data, at: location)
        } catch {
            guard error.code == .corrupt else { throw error }
            return .empty
        }
    }

    /// Decodes the item's own content, which may have a format of the application's own.
    private func decodeOwn(_ data: Data) throws(TokenStoreError) -> (session: StoredSession, isOlderFormat: Bool) {
        do {
            return (try decode(data, at: location), false)
        } catch {
            for reader in olderReaders where error.code == .corrupt {
                if let bundle = try? reader(data) { return (.active(bundle), true) }
            }
            throw error
        }
    }

    /// Decodes the content of an item. The error does not quote it: it may be a token.
    func decode(_ data: Data, at location: KeychainLocation) throws(TokenStoreError) -> StoredSession {
        do {
            return try TokenEnvelope.decode(data, in: "the Keychain item \(location)")
        } catch {
            guard (try? KeychainPredecessor.readPlainBundle(data)) != nil else { throw error }
            let hint = "to keep its tokens, name KeychainPredecessor.plainBundle(at:) among the predecessors"
            throw TokenStoreError(error.code, reason: "\(error.reason); \(hint)")
        }
    }

    /// The data at a location. An item without data has empty data, which is corrupt.
    private func find(_ location: KeychainLocation) throws(KeychainStatus) -> Data {
        let query = KeychainQuery(location: location, returnsData: true, limit: .one)
        return try items.copyMatching(query).first?.data ?? Data()
    }

    /// Calls a closure of the marker. An error of it leaves open whether the installation is new.
    private func certain<Value>(_ call: () throws -> Value) throws(TokenStoreError) -> Value {
        do {
            return try call()
        } catch {
            throw markerIsNotCertain(error)
        }
    }
}
