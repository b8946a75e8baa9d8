import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The item of one account: the rules of ``KeychainTokenStore``, for a thread that may be blocked.
struct TokenItem: Sendable {
    /// What a look at the item's place says.
    enum Finding: Sendable {
        case session(StoredSession)

        /// Tokens in a format of the application's own, which ``readOrMove()`` rewrites.
        case olderFormat

        /// Not found, which does not say yet that there is none.
        case notFound
    }

    private struct Progress {
        var isInstallSettled = false
        var arePredecessorsGone = false
    }

    /// How often a save tries to update and then to add, while others delete and add in between.
    static let saveAttempts = 3

    /// How many items of one service and account a Mac's file-based Keychain is expected to have at most.
    static let mostItems = 100

    let items: any KeychainItems
    let location: KeychainLocation

    /// What was before, newest first: none of them can be at the item's own place.
    let predecessors: [KeychainPredecessor]

    /// The application's own formats that may be at the item's own place.
    let olderReaders: [KeychainPredecessor.Reader]

    let accessibility: KeychainAccessibility
    let marker: InstallMarker?

    /// Keeps other processes from writing at the same time. `nil`: there are none.
    var lockFile: KeychainLockFile?

    var envelope = TokenEnvelope()

    private let progress = Locked(Progress())

    init(
        items: any KeychainItems,
        location: KeychainLocation,
        accessibility: KeychainAccessibility,
        predecessors: [KeychainPredecessor],
        marker: InstallMarker?
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
        // To remove what the item's own place covers, after a move, would be to remove the item.
        self.predecessors = renamed.filter { !$0.locations.contains(where: ownLocation.covers) }
        olderReaders = renamed.compactMap { predecessor in
            guard case .item(let location, let reader) = predecessor.layout, ownLocation.covers(location) else {
                return nil
            }
            return reader
        }
    }

    /// Whether ``settleInstall(isProtectedDataAvailable:)`` has something to do.
    var needsSettling: Bool { marker != nil && !progress.withLock { $0.isInstallSettled } }

    /// Looks at the item's own place. If a session is there, what a crash has left of the predecessors is removed.
    func look() throws(TokenStoreError) -> Finding {
        guard let data = try read(location) else { return .notFound }
        let (session, isOlderFormat) = try decodeOwn(data)
        if isOlderFormat { return .olderFormat }
        removeLeftPredecessors()
        return .session(session)
    }

    /// Reads the item, or moves what was before into its place.
    ///
    /// - Returns: What is stored. `.empty` is certain if protected data was available *before* the call.
    func readOrMove() throws(TokenStoreError) -> StoredSession {
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        return try lockedRead()
    }

    /// As ``readOrMove()``, for a caller that keeps other writers out.
    func lockedRead() throws(TokenStoreError) -> StoredSession {
        if let data = try read(location) {
            let (session, isOlderFormat) = try decodeOwn(data)
            if isOlderFormat { try put(try envelope.encode(session)) }
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

    /// Stores a bundle in the item's place, and removes what was before.
    func save(_ bundle: TokenBundle) throws(TokenStoreError) {
        let data = try envelope.encode(.active(bundle))
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        try checkMayReplace(try readForReplacing(), by: bundle)
        try put(data)
        removeLeftPredecessors()
    }

    /// Removes what was before and then the item, so that a crash in between leaves the session and not an older one.
    func delete(isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        try removeEverything(isProtectedDataAvailable: isProtectedDataAvailable)
    }

    /// Removes, once in the life of an installation, what an earlier one has left.
    ///
    /// Whether protected data is available was asked *before* the call. A marker that is set is believed in any case.
    /// It is set last: a crash before that finds nothing to remove the next time, for nothing is saved before it is.
    func settleInstall(isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        guard let marker, needsSettling else { return }
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        if try !isSet(marker) {
            guard isProtectedDataAvailable else { throw markerIsNotCertain(nil) }
            try removeEverything(isProtectedDataAvailable: true)
            do {
                try marker.set()
            } catch {
                throw markerIsNotCertain(error)
            }
            guard try isSet(marker) else { throw markerIsNotCertain(nil) }
        }
        progress.withLock { $0.isInstallSettled = true }
    }

    /// Removes what a crash has left of the predecessors. The item is in its place, so they are of no use to anybody;
    /// what cannot be removed now is left to the next call.
    func removeLeftPredecessors() {
        guard !predecessors.isEmpty, !progress.withLock({ $0.arePredecessorsGone }) else { return }
        do {
            try removePredecessors(isProtectedDataAvailable: true)
        } catch {
            return
        }
        progress.withLock { $0.arePredecessorsGone = true }
    }

    /// Updates the item if there is one, adds it if there is none: at no instant is there none that was there before.
    func put(_ data: Data) throws(TokenStoreError) {
        let query = KeychainQuery(location: location)
        let values = KeychainValues(
            data: data, accessibility: location.keychain == .dataProtection ? accessibility : nil)
        for _ in 1...Self.saveAttempts {
            do {
                return try items.update(query, to: values)
            } catch {
                guard error == .itemNotFound else { throw .keychain(error, "update", location) }
            }
            do {
                return try items.add(query, values)
            } catch {
                guard error == .duplicateItem else { throw .keychain(error, "add", location) }
            }
        }
        throw .keychain(.duplicateItem, "save", location)
    }

    /// The data at a place. `nil`: not found.
    func read(_ location: KeychainLocation) throws(TokenStoreError) -> Data? {
        do {
            // An item without data has been damaged, or is not ours: no reader takes it for a bundle.
            return try find(location)
        } catch {
            guard error == .itemNotFound else { throw .keychain(error, "read", location) }
            return nil
        }
    }

    /// The item, for a save, which replaces one that cannot be read or decrypted: it will never be read again.
    private func readForReplacing() throws(TokenStoreError) -> StoredSession {
        let data: Data
        do {
            data = try find(location)
        } catch {
            guard error == .itemNotFound || error == .decodingFailed else { throw .keychain(error, "read", location) }
            return .empty
        }
        do {
            return try decode(data, at: location)
        } catch {
            guard error.code == .corrupt else { throw error }
            return .empty
        }
    }

    private func checkMayReplace(_ stored: StoredSession, by bundle: TokenBundle) throws(TokenStoreError) {
        if case .ended(let note) = stored, note.session == bundle.session {
            throw TokenStoreError(.superseded, reason: "session \(bundle.session) has ended; sign in again")
        }
        try bundle.checkMayReplace(stored.bundle)
    }

    /// Reads what the item's own place has in it, which may be of a format of the application's own.
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

    /// Reads what an item has in it. What is wrong with it is not quoted: it may be a token.
    func decode(_ data: Data, at location: KeychainLocation) throws(TokenStoreError) -> StoredSession {
        do {
            return try envelope.decode(data)
        } catch {
            throw unreadable(error, at: location)
        }
    }

    private func find(_ location: KeychainLocation) throws(KeychainStatus) -> Data {
        let query = KeychainQuery(location: location, returnsData: true, limit: .one)
        return try items.copyMatching(query).first?.data ?? Data()
    }

    private func isSet(_ marker: InstallMarker) throws(TokenStoreError) -> Bool {
        do {
            return try marker.isSet()
        } catch {
            throw markerIsNotCertain(error)
        }
    }
}
