#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// Tells the stores of a process about changes of rows and releases of leases, by any process.
///
/// One connection for all accounts listens for what ``ChangeReport`` says. Where that is not possible, behind a pooler
/// in transaction mode, the versions of the watched rows are looked at every `PostgreSQLLimits.changePolling`.
///
/// Nothing runs and no connection is opened before the first stream is asked for.
final class ChangeFeed: Sendable {
    private let watching: ChangeWatch
    private let task = Locked<Task<Void, Never>?>(nil)

    init(watching: ChangeWatch) {
        self.watching = watching
    }

    deinit {
        task.withLock { $0?.cancel() }
        watching.subscribers.finish()
    }

    /// Whether reports are listened for now.
    var isListening: Bool { watching.isListening }

    /// Reports that the session of an account may have changed.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - version: The version of its row that the caller knows. `nil`: none. Another one is reported, soon.
    /// - Returns: A stream of its own.
    func changes(of account: String, since version: Int64?) -> AsyncStream<Void> {
        start()
        return watching.subscribers.changes(of: account, since: version)
    }

    /// Reports that the lease of an account was released, where that can be listened for.
    func releases(of account: String) -> AsyncStream<Void> {
        start()
        return watching.subscribers.releases(of: account)
    }

    /// Reports a change that this process has made, where it is not listened for.
    func noteOwnChange(of account: String, version: Int64) {
        guard !isListening else { return }
        watching.subscribers.note(version, of: AccountHash(account))
    }

    private func start() {
        task.withLock { task in
            if task == nil { task = Task { [watching] in await watching.run() } }
        }
    }
}
#endif
