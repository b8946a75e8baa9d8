import AuthInterface

extension TokenItem {
    /// Reads, decides and writes under the write lock. Returns `false`, without a call of `change`, if nothing was
    /// found and it is not known whether protected data was available before (`nil`).
    ///
    /// A predecessor is moved first, so that the change is called with the same session that a read returns. The
    /// predecessors are removed before the end of a session is written: a crash in between leaves that session, not an
    /// older one.
    func update(isProtectedDataAvailable: Bool?, _ change: StoreChange) throws(TokenStoreError) -> Bool {
        let lock = try lockFile?.lockForWriting()
        defer { lock?.release() }
        let found = try findForChanging()
        if case .success(.empty) = found {
            guard let isProtectedDataAvailable else { return false }
            guard isProtectedDataAvailable else { throw .notCertain(location) }
        }
        // From here on "not found" is certain: the item was found, or protected data is available.
        switch change(found) {
        case nil: break
        case .empty: try removeEverything(isProtectedDataAvailable: true)
        case .tombstone(let tombstone):
            try removePredecessors(isProtectedDataAvailable: true)
            try put(try TokenEnvelope.encode(.tombstone(tombstone)))
        case .active(let bundle):
            try put(try TokenEnvelope.encode(.active(bundle)))
            removeLeftPredecessors()
        }
        return true
    }

    /// The argument of a change: a failure if the content can be replaced but not read.
    private func findForChanging() throws(TokenStoreError) -> Result<StoredSession, TokenStoreError> {
        do {
            return .success(try lockedRead())
        } catch {
            // What the Keychain cannot decrypt, it can never decrypt.
            let isReplaceable = error.code == .corrupt || error.cause as? KeychainStatus == .decodingFailed
            guard isReplaceable else { throw error }
            return .failure(TokenStoreError(.corrupt, reason: error.reason, cause: error.cause))
        }
    }
}
