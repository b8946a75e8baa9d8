import AuthInterface

/// The two lock files of an account: one for its lease, which is held across a refresh, and one for the few
/// milliseconds between the look at what is stored and the write.
struct TokenLocks: Sendable {
    let folder: String
    let name: String

    /// Takes the lease if it is free and it is the turn of the request.
    func tryLease(_ request: LeaseRequest) throws(TokenStoreError) -> FolderLock? {
        try request.attempt(in: PrivateFolder.openOrCreate(folder), name + ".lease")
    }

    /// Keeps other writers out. It blocks the thread while there are any.
    func whileWriting<Value>(_ write: () throws(TokenStoreError) -> Value) throws(TokenStoreError) -> Value {
        let lock = try PrivateFolder.openOrCreate(folder).lock(name + ".lock", waitingAtMost: TokenFile.saveLimit)
        defer { lock.release() }
        return try write()
    }
}
