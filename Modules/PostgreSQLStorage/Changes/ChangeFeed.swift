#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// Notifies the stores of a process of changed rows and released leases, by any process.
///
/// One connection for all accounts listens for notifications (``ChangeReport``). Where that is not possible, behind a
/// pooler in transaction mode, the versions of the watched rows are read every `PostgreSQLLimits.changePolling`.
///
/// No task runs and no connection is opened before the first stream is requested.
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

    /// Whether a connection listens for notifications now.
    var isListening: Bool { watching.isListening }

    /// Reports that the session of an account may have changed.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - version: The version of its row that the caller has read. `nil`: none. Another version is reported.
    /// - Returns: A new stream.
    func changes(of account: String, since version: Int64?) -> AsyncStream<Void> {
        start()
        return watching.subscribers.changes(of: account, since: version)
    }

    /// Reports that the lease of an account was released, if a connection can listen for it.
    func releases(of account: String) -> AsyncStream<Void> {
        start()
        return watching.subscribers.releases(of: account)
    }

    /// Reports a change by this process, unless a connection listens for it.
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
