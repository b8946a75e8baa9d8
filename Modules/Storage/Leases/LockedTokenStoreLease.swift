import AuthInterface

/// A store whose lease is a lock on a file, in the hands of one holder.
final class LockedTokenStoreLease: TokenStoreLease {
    private let store: any TokenStore
    private let lock: FolderLock

    init(store: any TokenStore, lock: FolderLock) {
        self.store = store
        self.lock = lock
    }

    func load() async throws -> TokenBundle? {
        try checkIsHeld()
        return try await store.load()
    }

    func save(_ bundle: TokenBundle) async throws {
        try checkIsHeld()
        try await store.save(bundle)
    }

    func delete() async throws {
        try checkIsHeld()
        try await store.delete()
    }

    func mayStillCall(_ owner: ProcessIdentity) -> Bool { owner.host != ProcessIdentity.current.host }

    func release() async { lock.release() }

    private func checkIsHeld() throws(TokenStoreError) {
        guard lock.isHeld else { throw .released }
    }
}
