import AuthInterface
import Foundation

/// The moves from earlier locations.
extension TokenItem {
    /// The session at an earlier location. `.empty`: nothing was found.
    func session(of predecessor: KeychainPredecessor) throws(TokenStoreError) -> StoredSession {
        switch predecessor.layout {
        case .item(let location, let reader):
            guard let data = try read(location) else { return .empty }
            if let bundle = try? reader?(data) { return .active(bundle) }
            return try decode(data, at: location)
        case .separateTokens(let access, let refresh):
            let accessToken = try text(at: access)
            let refreshToken = try text(at: refresh)
            if let accessToken { return .active(TokenBundle(accessToken: accessToken, refreshToken: refreshToken)) }
            guard let refreshToken else { return .empty }
            return .active(TokenBundle(accessToken: "", refreshToken: refreshToken, expiresAt: .distantPast))
        }
    }

    /// Saves the new item, reads it back, and then removes the old ones.
    func move(_ session: StoredSession) throws(TokenStoreError) {
        let data = try TokenEnvelope.encode(session)
        try put(data)
        guard try read(location) == data else { throw .keychain(.itemNotFound, "read back", location) }
        removeLeftPredecessors()
    }

    /// Removes the predecessors, oldest first, and then the item.
    func removeEverything(isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        try removePredecessors(isProtectedDataAvailable: isProtectedDataAvailable)
        try remove(location, isProtectedDataAvailable)
    }

    /// Removes the predecessors, oldest first: a crash in between leaves the newest, which is the current one.
    func removePredecessors(isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        for predecessor in predecessors.reversed() {
            for old in predecessor.locations {
                for group in try groups(of: old) { try remove(group, isProtectedDataAvailable) }
            }
        }
    }

    /// The locations to remove for a location.
    ///
    /// One without an access group stands for all groups, the item's own included: after a move within one service and
    /// account, only the others must be removed.
    private func groups(of old: KeychainLocation) throws(TokenStoreError) -> [KeychainLocation] {
        guard old.covers(location) else { return [old] }
        let found = try call("find", old, try items.copyMatching(KeychainQuery(location: old, limit: .all))) ?? []
        return found.compactMap(\.accessGroup).filter { $0 != location.accessGroup }.map(old.inGroup)
    }

    /// Removes every item at a location.
    ///
    /// `SecItemDelete` deletes every item that matches in the data-protection Keychain. In the file-based Keychain of a
    /// Mac, which is several files that are searched one after the other, it deletes the first: what is left would be
    /// found by the next read, after a sign-out.
    private func remove(_ location: KeychainLocation, _ isProtectedDataAvailable: Bool) throws(TokenStoreError) {
        for number in 0...Self.maximumItems {
            guard try call("delete", location, try items.delete(KeychainQuery(location: location))) != nil else {
                guard number > 0 || isProtectedDataAvailable else { throw .notCertain(location) }
                return
            }
            if location.keychain == .dataProtection { return }
        }
        throw .keychain(.duplicateItem, "delete every copy of", location)
    }

    /// The token at a location. `nil`: not found, or an empty text.
    private func text(at location: KeychainLocation) throws(TokenStoreError) -> String? {
        guard let data = try read(location) else { return nil }
        if let text = String(data: data, encoding: .utf8) { return text.isEmpty ? nil : text }
        throw .unreadable(
            TokenStoreError(.corrupt, reason: "it contains no tokens"), in: "the Keychain item \(location)")
    }

    func markerIsNotCertain(_ cause: (any Error)?) -> TokenStoreError {
        TokenStoreError(
            .unavailable,
            reason:
                "this may be a new installation, so the Keychain item \(location) is neither used nor removed; "
                + "try again when the device is unlocked",
            cause: cause)
    }
}
