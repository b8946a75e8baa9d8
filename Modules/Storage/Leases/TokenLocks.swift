import AuthInterface
import Foundation

/// The files by which processes share an account whose tokens are not in a file: one for its lease, which is held
/// across a refresh, one for the few milliseconds between the look at what is stored and the write, and one that each
/// write touches. All are empty.
struct TokenLocks: Sendable {
    let folder: String
    let name: String

    /// Takes the lease if it is free and it is the turn of the request.
    func tryLease(_ request: LeaseRequest) throws(TokenStoreError) -> FolderLock? {
        try request.attempt(in: PrivateFolder.openOrCreate(folder), name + ".lease")
    }

    /// A stream that reports each write of this process or another one, of ``reportWrite()``.
    var changes: AsyncStream<Void> {
        // Every folder on the way may be missing until the first write.
        let state = TokenFolderLocation.state().folder.path
        let place = TokenFolder(path: folder, anchor: "/", access: .owner, known: KnownFolders(stateFolder: state))
        return FileChanges.stream(of: changeName, in: place)
    }

    /// Touches the file that is watched. A write that cannot be reported is done all the same: a process that is not
    /// told of it reads the store at its next refresh.
    func reportWrite() {
        guard let folder = try? PrivateFolder.open(folder) else { return }
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = openat(folder.descriptor.number, changeName, flags, 0o600)
        if file >= 0 { close(file) }
    }

    private var changeName: String { name + ".changed" }

    /// Keeps other writers out. It blocks the thread while there are any.
    func whileWriting<Value>(_ write: () throws(TokenStoreError) -> Value) throws(TokenStoreError) -> Value {
        let lock = try PrivateFolder.openOrCreate(folder).lock(name + ".lock", waitingAtMost: TokenFile.saveLimit)
        defer { lock.release() }
        return try write()
    }
}
