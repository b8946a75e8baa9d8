import AuthInterface
import Foundation

/// The moves from where the tokens were before.
extension TokenItem {
    /// What a predecessor has. `nil`: nothing was found.
    func bundle(of predecessor: KeychainPredecessor) throws(TokenStoreError) -> TokenBundle? {
        switch predecessor.layout {
        case .item(let place, let reader):
            guard let data = try read(place) else { return nil }
            if let bundle = try? reader?(data) { return bundle }
            switch envelope.decode(data) {
            case .bundle(let bundle): return bundle
            case .newer(let version): throw newer(version, at: place)
            case .unreadable: throw corrupt(place)
            }
        case .separateTokens(let access, let refresh):
            return try bundle(accessToken: text(at: access), refreshToken: text(at: refresh))
        }
    }

    /// Saves the new item, and removes the old ones when the new one has been read back.
    func move(_ bundle: TokenBundle) throws(TokenStoreError) {
        let data = try envelope.encode(bundle)
        try put(data)
        guard try read(place) == data else { throw .keychain(.itemNotFound, "read back", place) }
        removeLeftPredecessors()
    }

    /// Removes the predecessors, oldest first, and then the item.
    func removeEverything(isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        try removePredecessors(isProtectedDataAvailable: isProtectedDataAvailable)
        try remove(place, isProtectedDataAvailable)
    }

    /// Removes the predecessors, oldest first: a crash in between leaves the newest, which is the one that counts.
    func removePredecessors(isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        for predecessor in predecessors.reversed() {
            for old in predecessor.places {
                for group in try groups(of: old) { try remove(group, isProtectedDataAvailable) }
            }
        }
    }

    /// The places to remove for a place.
    ///
    /// One without an access group stands for all groups, the item's own among them: after a move within one service
    /// and account, what is removed must be the others.
    private func groups(of old: KeychainPlace) throws(TokenStoreError) -> [KeychainPlace] {
        guard old.covers(place) else { return [old] }
        do {
            let found = try items.copyMatching(KeychainQuery(place: old, limit: .all))
            return found.compactMap(\.accessGroup).filter { $0 != place.accessGroup }.map(old.inGroup)
        } catch {
            guard error == .itemNotFound else { throw .keychain(error, "find", old) }
            return []
        }
    }

    private func remove(_ place: KeychainPlace, _ isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        do {
            try items.delete(KeychainQuery(place: place))
        } catch {
            guard error == .itemNotFound else { throw .keychain(error, "delete", place) }
            guard isProtectedDataAvailable else { throw .notCertain(place) }
        }
    }

    private func bundle(accessToken: String?, refreshToken: String?) -> TokenBundle? {
        if let accessToken { return TokenBundle(accessToken: accessToken, refreshToken: refreshToken) }
        return refreshToken.map { TokenBundle(accessToken: "", refreshToken: $0, expiresAt: .distantPast) }
    }

    /// The token at a place. `nil`: not found, or an empty text.
    private func text(at place: KeychainPlace) throws(TokenStoreError) -> String? {
        guard let data = try read(place) else { return nil }
        guard let text = String(data: data, encoding: .utf8) else { throw corrupt(place) }
        return text.isEmpty ? nil : text
    }
}

/// What is wrong with what was found. What it looks like is not said: it may be a token.
extension TokenItem {
    func corrupt(_ place: KeychainPlace) -> TokenStoreError {
        TokenStoreError(
            .corrupt,
            reason: "the Keychain item \(place) has no tokens in it; it is left as it is until you sign in again"
        )
    }

    func newer(_ version: Int, at place: KeychainPlace) -> TokenStoreError {
        TokenStoreError(
            .unsupportedVersion,
            reason: "the Keychain item \(place) has version \(version) of the format; update this program, or sign "
                + "out to remove the item"
        )
    }

    func markerIsNotCertain(_ cause: (any Error)?) -> TokenStoreError {
        TokenStoreError(
            .unavailable,
            reason: "whether this is a fresh installation is not certain now, so the Keychain item \(place) is neither "
                + "used nor removed; try again when the device is unlocked",
            cause: cause
        )
    }
}
