import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The folder of a ``FileTokenStore``. It is not taken for empty when its disk is not mounted (G14).
///
/// The disk is not mounted if the folder is neither the one that this store used before nor a copy of it, if the
/// ``anchor`` does not exist, or if a note of an earlier process says that the folder is on a disk (``KnownFolders``).
struct TokenFolder: Sendable {
    let path: String

    /// A folder above it that must exist: the user's state folder or home, or the parent of ``path``.
    let anchor: String

    let access: FolderAccess
    let known: KnownFolders

    /// The folder in which this store has found or stored a session. A folder that was always empty is not recorded:
    /// its disk may be mounted later.
    private let used = Locked<FolderIdentity?>(nil)
    private let isRecorded = Locked(false)

    /// The folders above are checked once: they change less often than a session is read.
    private let hasSafeParents = Locked(false)

    /// Opens the folder; `nil` if it is certain that none exists yet. It is `unavailable` while its disk is not
    /// mounted. Another folder than before is used if it is a copy: if it has the session.
    func open(
        isModeChecked: Bool = true, isCopy: (borrowing PrivateFolder) -> Bool = { _ in false }
    ) throws(TokenStoreError) -> PrivateFolder? {
        if isModeChecked, !hasSafeParents.withLock({ $0 }) {
            try FileSafety(kind: .folder, access: access).checkParents(of: path)
            hasSafeParents.withLock { $0 = true }
        }
        if let folder = try PrivateFolder.open(path, isModeChecked: isModeChecked, access: access) {
            try check(folder, isCopy)
            return folder
        }
        do throws(TokenStoreError) {
            try checkAbsence()
            return nil
        } catch {
            // What says that there was a folder may be newer than the look: the folder was made meanwhile.
            guard let folder = try PrivateFolder.open(path, isModeChecked: isModeChecked, access: access) else {
                throw error
            }
            try check(folder, isCopy)
            return folder
        }
    }

    /// Checks that the folder does not exist because it was not made yet.
    private func checkAbsence() throws(TokenStoreError) {
        if used.withLock({ $0 != nil }) { throw missing("is gone") }
        if Foundation.access(anchor, F_OK) != 0 {
            throw .system(
                SystemCallError(number: errno), "find the folder", anchor,
                ifMissing: "mount its disk, or run: mkdir -p -m 700 \(anchor.quotedForShell)")
        }
        if let device = FileSystemKind.nearestDevice(to: path), FileSystemKind(device: device) == .virtual {
            throw TokenStoreError(
                .unavailable,
                reason: "no file can be stored in \(path): check HOME and XDG_STATE_HOME, and mount its disk")
        }
        try known.check(path, marker: nil)
    }

    /// Creates the folder, and writes the first file in it under the write lock of its account. The folder gets its
    /// name when the lock is held.
    ///
    /// The caller has locked the ``anchor`` and has found no folder.
    func create(
        locking lockName: String, then write: (borrowing PrivateFolder) throws(TokenStoreError) -> Void
    ) throws(TokenStoreError) {
        let temporary = path + ".new"
        try attempt("make the folder", temporary) { () throws(SystemCallError) in
            try PrivateFolder.create((path as NSString).deletingLastPathComponent, mode: access.folderMode)
            try PrivateFolder.make(temporary, access.folderMode)
        }
        guard let made = try PrivateFolder.open(temporary, access: access), let lock = try made.tryLock(lockName) else {
            throw missing("was made by another program at the same time")
        }
        defer { lock.release() }
        try attempt("make the folder", path) { () throws(SystemCallError) in
            try uninterrupted { rename(temporary, path) }
            try PrivateFolder.synchronizeNames(in: (path as NSString).deletingLastPathComponent)
        }
        guard let folder = try open() else { throw missing("is gone") }
        try write(folder)
    }

    /// Records in memory that a session is in the folder.
    func remember(_ folder: borrowing PrivateFolder) {
        let identity = folder.identity
        used.withLock { $0 = identity }
    }

    /// Records for later processes that a session is in the folder, once.
    func record(_ folder: borrowing PrivateFolder) {
        guard isRecorded.withLock({ !$0 }), known.record(folder) else { return }
        isRecorded.withLock { $0 = true }
    }

    private func check(
        _ folder: borrowing PrivateFolder, _ isCopy: (borrowing PrivateFolder) -> Bool
    ) throws(TokenStoreError) {
        let identity = folder.identity
        let before = used.withLock { $0 }
        if before == identity { return }
        let marker = known.marker(in: folder)
        if let before, !before.isSameFolder(as: identity), !known.recognizes(path, marker: marker),
            !isCopy(folder)
        {
            throw missing("is another folder than before")
        }
        try known.check(path, marker: marker)
        used.withLock { $0 = $0 == nil ? nil : identity }
    }

    private func missing(_ what: String) -> TokenStoreError {
        TokenStoreError(
            .unavailable, reason: "\(path) \(what); mount its disk, or restart the program if you removed the folder")
    }
}
