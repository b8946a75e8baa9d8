#if PostgreSQL
import ConcurrencyPrimitives
import Storage

/// Notifies the stores of a process of changed rows and released leases, by any process.
///
/// One connection for all accounts listens for notifications (``ChangeReport``). Where that is not possible, behind a
/// pooler in transaction mode, the versions of the watched rows are read every `PostgreSQLLimits.changePolling`.
///
/// No task runs and no connection is opened before the first stream is requested.
final class ChangeFeed: Sendable {
    private let watching: ChangeWatch
    private let task = Locked<Task<Void, Never>?>(nil)

    init(watching: ChangeWatch) { self.watching = watching }

    deinit {
        task.withLock { $0?.cancel() }
        watching.subscribers.finish()
    }

    /// Whether a connection listens for notifications now.
    var isListening: Bool { watching.isListening }

    /// Reports that the session of an account may have changed: first if the version of its row is another one than the
    /// caller has read.
    func changes(of account: String, since version: Int64?) -> AsyncStream<Void> {
        start()
        let stream = watching.subscribers.changes(of: account, since: version)
        watching.look(at: account)
        return stream
    }

    /// Reports that the lease of an account was released, if a connection can listen for it.
    func releases(of account: String) -> AsyncStream<Void> {
        start()
        return watching.subscribers.releases(of: account)
    }

    /// Reports a change by this process, unless a connection listens for it.
    func reportOwnChange(of account: String, version: Int64) {
        guard !isListening else { return }
        watching.subscribers.report(version, of: AccountHash(account))
    }

    private func start() {
        task.withLock { task in
            if task == nil { task = Task { [watching] in await watching.run() } }
        }
    }
}

/// A notification about an account between processes (`NOTIFY`).
///
/// The channel is a hash of the table's name, and the payload has a hash of the account, because a role that may listen
/// on a channel may lack the right to read the table. Accounts with the same hash, and those of tables with the same
/// name in several schemas, wake each other, which does no harm.
enum ChangeReport: Sendable, Equatable {
    /// The stored session has changed: the row has this version now. Zero: no row.
    case changed(AccountHash, version: Int64)

    /// The lease was released.
    case released(AccountHash)

    init?(payload: String) {
        let parts = payload.dropFirst().split(separator: ".")
        guard let hash = parts.first.flatMap(AccountHash.init(hexadecimal:)) else { return nil }
        switch (payload.first, parts.count) {
        case ("c", 2):
            guard let version = Int64(parts[1]) else { return nil }
            self = .changed(hash, version: version)
        case ("r", 1): self = .released(hash)
        default: return nil
        }
    }

    /// The payload of a change without its version, which the database appends.
    static func changeStem(of account: String) -> String { "c\(AccountHash(account).hexadecimal)." }

    static func releasePayload(of account: String) -> String { "r\(AccountHash(account).hexadecimal)" }

    /// The channel of a table: letters and digits only.
    static func channel(of table: PostgreSQLTable) -> String { "latchkey_" + AccountHash(table.name).hexadecimal }
}

/// The hash of an account, for notifications. It does not protect the name.
struct AccountHash: Sendable, Hashable {
    private let value: UInt64

    init(_ text: String) { value = CRC64.checksum(of: text.utf8) }

    init?(hexadecimal: some StringProtocol) {
        guard let value = UInt64(hexadecimal, radix: 16) else { return nil }
        self.value = value
    }

    var hexadecimal: String { String(value, radix: 16) }
}
#endif
