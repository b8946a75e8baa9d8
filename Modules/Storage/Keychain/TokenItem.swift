import AuthInterface
import Foundation

/// The item of one account: the rules of ``KeychainTokenStore``, on whatever thread they are called.
struct TokenItem: Sendable {
    /// What a look at the item's place says.
    enum Finding: Sendable {
        case bundle(TokenBundle)

        /// Tokens in a format of the application's own, which ``loadOrMove()`` rewrites.
        case olderFormat

        /// Not found, which is not yet to say that there is none.
        case notFound
    }

    private struct Progress {
        var isInstallSettled = false
        var arePredecessorsGone = false
    }

    /// How often a save tries to update and then to add, while others delete and add in between.
    static let saveAttempts = 3

    let items: any KeychainItems
    let place: KeychainPlace

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
        place: KeychainPlace,
        accessibility: KeychainAccessibility,
        predecessors: [KeychainPredecessor],
        marker: InstallMarker?
    ) {
        let rename = { (place: KeychainPlace) in items.hasFileBasedKeychain ? place : place.inTheOnlyKeychain }
        let ownPlace = rename(place)
        let renamed = predecessors.map { $0.renamed(rename) }
        self.items = items
        self.place = ownPlace
        self.accessibility = accessibility
        self.marker = marker
        // To remove what the item's own place covers, after a move, would be to remove the item.
        self.predecessors = renamed.filter { !$0.places.contains(where: ownPlace.covers) }
        olderReaders = renamed.compactMap { predecessor in
            guard case .item(let place, let reader) = predecessor.layout, ownPlace.covers(place) else { return nil }
            return reader
        }
    }

    /// Whether ``settleInstall(isProtectedDataAvailable:)`` has something to do.
    var needsSettling: Bool { marker != nil && !progress.withLock { $0.isInstallSettled } }

    /// Looks at the item's own place. If a bundle is there, what a crash has left of the predecessors goes.
    func look() throws(TokenStoreError) -> Finding {
        guard let data = try read(place) else { return .notFound }
        switch envelope.decode(data) {
        case .bundle(let bundle):
            removeLeftPredecessors()
            return .bundle(bundle)
        case .newer(let version): throw newer(version, at: place)
        case .unreadable:
            guard readOlderFormat(data) != nil else { throw corrupt(place) }
            return .olderFormat
        }
    }

    /// Reads the item, or moves what was before into its place.
    ///
    /// - Returns: The bundle. `nil`: there is none, if protected data was available *before* the call.
    func loadOrMove() throws(TokenStoreError) -> TokenBundle? {
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        if let data = try read(place) {
            switch envelope.decode(data) {
            case .bundle(let bundle): return bundle
            case .newer(let version): throw newer(version, at: place)
            case .unreadable:
                guard let bundle = readOlderFormat(data) else { throw corrupt(place) }
                try put(try envelope.encode(bundle))
                return bundle
            }
        }
        for predecessor in predecessors {
            guard let bundle = try self.bundle(of: predecessor) else { continue }
            try move(bundle)
            return bundle
        }
        return nil
    }

    /// Stores a bundle in the item's place, and removes what was before.
    func save(_ bundle: TokenBundle) throws(TokenStoreError) {
        let data = try envelope.encode(bundle)
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        if let stored = try readForReplacing() {
            switch envelope.decode(stored) {
            case .bundle(let stored): try bundle.checkMayReplace(stored)
            case .newer(let version): throw newer(version, at: place)
            case .unreadable: break
            }
        }
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
        let query = KeychainQuery(place: place)
        let values = KeychainValues(data: data, accessibility: place.keychain == .dataProtection ? accessibility : nil)
        for _ in 1...Self.saveAttempts {
            do {
                return try items.update(query, to: values)
            } catch {
                guard error == .itemNotFound else { throw .keychain(error, "update", place) }
            }
            do {
                return try items.add(query, values)
            } catch {
                guard error == .duplicateItem else { throw .keychain(error, "add", place) }
            }
        }
        throw .keychain(.duplicateItem, "save", place)
    }

    /// The data at a place. `nil`: not found.
    func read(_ place: KeychainPlace) throws(TokenStoreError) -> Data? {
        do {
            // An item without data has been damaged, or is not ours: no reader takes it for a bundle.
            return try find(place)
        } catch {
            guard error == .itemNotFound else { throw .keychain(error, "read", place) }
            return nil
        }
    }

    /// As ``read(_:)``, but an item that cannot be decrypted may be replaced: it will never be read again.
    private func readForReplacing() throws(TokenStoreError) -> Data? {
        do {
            return try find(place)
        } catch {
            guard error == .itemNotFound || error == .decodingFailed else { throw .keychain(error, "read", place) }
            return nil
        }
    }

    private func find(_ place: KeychainPlace) throws(KeychainStatus) -> Data {
        let query = KeychainQuery(place: place, returnsData: true, limit: .one)
        return try items.copyMatching(query).first?.data ?? Data()
    }

    private func readOlderFormat(_ data: Data) -> TokenBundle? {
        for reader in olderReaders {
            if let bundle = try? reader(data) { return bundle }
        }
        return nil
    }

    private func isSet(_ marker: InstallMarker) throws(TokenStoreError) -> Bool {
        do {
            return try marker.isSet()
        } catch {
            throw markerIsNotCertain(error)
        }
    }
}
