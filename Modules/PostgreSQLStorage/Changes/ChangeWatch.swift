#if PostgreSQL
import ConcurrencyPrimitives
import Foundation
import Storage

/// Receives notifications of changes, and polls while the connection cannot listen.
final class ChangeWatch: Sendable {
    /// The number of rows that one statement reads.
    private static let batch = 500

    let subscribers = ChangeSubscribers()

    private let connection: ConnectionString
    private let table: PostgreSQLTable
    private let pool: ConnectionPool
    private let queue = BlockingQueue(label: "token-database-listening")
    private let listening = Locked(false)
    private let unread = Locked(UnreadAccounts())

    /// Watches a table, over a connection of its own where possible, and else over the connections of a pool.
    init(connection: ConnectionString, table: PostgreSQLTable, pool: ConnectionPool) {
        self.connection = connection
        self.table = table
        self.pool = pool
    }

    var isListening: Bool { listening.withLock { $0 } }

    /// Runs until the task is cancelled.
    func run() async {
        var mayListen = true
        while !Task.isCancelled {
            if mayListen { mayListen = await listen() }
            await poll()
            let pause = pool.limits.changePolling * Double.random(in: 0.5...1)
            try? await pool.clock.sleep(until: pool.clock.uptime + pause)
        }
    }

    /// Listens until the connection is lost, if it can be opened. Returns whether another attempt may succeed: `false`
    /// behind a pooler.
    private func listen() async -> Bool {
        let channel = ChangeReport.channel(of: table)
        let notifications: NotificationConnection?
        do {
            notifications = try await queue.run { [connection, limits = pool.limits] () throws(PostgreSQLFailure) in
                try NotificationConnection.open(connection, channel: channel, limits: limits)
            }
        } catch {
            return true
        }
        guard let notifications else { return false }
        listening.withLock { $0 = true }
        // Earlier changes were not notified. They are looked for until they can be read.
        for account in subscribers.watchedAccounts { look(at: account) }
        subscribers.reportReleases()
        for await payload in notifications.payloads {
            switch ChangeReport(payload: payload) {
            case .changed(let account, let version): subscribers.report(version, of: account)
            case .released(let account): subscribers.reportRelease(of: account)
            case nil: break
            }
        }
        listening.withLock { $0 = false }
        return true
    }

    /// Reports what has changed before a stream was opened: only later changes are notified. While no connection
    /// listens, every row is read.
    func look(at account: String) {
        guard isListening else { return }
        if unread.withLock({ $0.add(account) }) { Task { await readUnread() } }
    }

    private func readUnread() async {
        while true {
            let some = unread.withLock { $0.next(Self.batch) }
            if some.isEmpty { return }
            while isListening, !(await report(some)) {
                try? await pool.clock.sleep(until: pool.clock.uptime + pool.limits.changePolling)
            }
        }
    }

    /// Reads the versions of the watched rows, and reports the new ones. Rows that cannot be read now are read the next
    /// time.
    private func poll() async {
        let accounts = subscribers.watchedAccounts
        for start in stride(from: 0, to: accounts.count, by: Self.batch) {
            guard await report(Array(accounts[start..<min(start + Self.batch, accounts.count)])) else { return }
        }
    }

    /// Returns whether the rows could be read.
    private func report(_ accounts: [String]) async -> Bool {
        guard let rows = try? await versions(of: accounts) else { return false }
        var versions: [Data: Int64] = [:]
        for row in rows.rows.indices {
            if let account = rows.text(0, row: row) { versions[Data(account.utf8)] = rows.integer(1, row: row) }
        }
        for account in accounts {
            subscribers.report(versions[Data(account.utf8)] ?? 0, of: AccountHash(account))
        }
        return true
    }

    private func versions(of accounts: [String]) async throws -> PostgreSQLRows {
        let statement = PostgreSQLStatement(
            text: "SELECT account, version FROM \(table.quoted) WHERE account = ANY ($1)", values: [.texts(accounts)])
        return try await pool.transaction(for: .reading, until: pool.clock.uptime + pool.limits.call) {
            open throws(PostgreSQLFailure) in try open.execute(statement)
        }
    }
}

/// The accounts with new streams, whose versions are to be read. Names are told apart by their bytes, as in the
/// database: texts that are equal may differ in those.
struct UnreadAccounts {
    private var names: Set<Data> = []
    private var isBeingRead = false

    /// Returns whether reading is to begin.
    mutating func add(_ account: String) -> Bool {
        names.insert(Data(account.utf8))
        defer { isBeingRead = true }
        return !isBeingRead
    }

    /// The accounts to read next. None: reading has ended.
    mutating func next(_ count: Int) -> [String] {
        let some = names.prefix(count)
        names.subtract(some)
        isBeingRead = !some.isEmpty
        return some.map { String(decoding: $0, as: UTF8.self) }
    }
}
#endif
