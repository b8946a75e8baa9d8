#if PostgreSQL
public import AuthInterface
public import ConcurrencyPrimitives
import Foundation
public import Storage

/// Keeps the session of one account in a PostgreSQL database that processes on many hosts share.
///
/// It is for a fleet of servers with one rotating credential, or with many. Each process has a store and a coordinator:
///
/// ```swift
/// let store = PostgreSQLTokenStore(connection: "service=tokens", account: "partner", cipher: cipher)
/// try await store.prepare()
/// let session = TokenRefreshCoordinator(store: store, handler: handler)
/// ```
/// **Sharing** (G13): one process refreshes while the others wait, and they adopt its result. The lease is a claim in
/// the row, which its holder renews. It outlives a lost connection and a restart of the server. The claim of a dead
/// process lapses after ``PostgreSQLLimits/claim``; its owner is treated as if it may still be waiting for a response.
/// No lock or setting lasts longer than a transaction, so a pooler in transaction mode can be used.
///
/// **Outages** (G14): a server that cannot be reached, is starting, or is read-only is *unavailable*, never *none*. So
/// is a row that the cipher cannot open, which is not changed.
///
/// **Writing** is one transaction that locks the row, decides, writes, and is committed to disk before the call returns
/// (G11, G12). It runs to its end even when the task that waits for it is cancelled.
///
/// **Many accounts** (G18): all stores made by ``store(for:)`` share a few connections. None is in use while a call
/// waits for a lease, a locked row or the end of a pause.
///
/// No error contains a message of libpq or the server, which may quote the connection string and its password.
/// <doc:SharingTokensInPostgreSQL> has the table, and what the store protects against;
/// <doc:LeasesAndFailuresInPostgreSQL> has the lease, the failures and the limits.
public struct PostgreSQLTokenStore: SharedTokenStore {
    /// The account.
    public let account: String

    let session: AccountSession
    private let holders: LeaseQueue

    /// Creates a store. No connection is opened before the first call.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq, as keywords (`host=… dbname=…`) or URI. The `PG…` environment
    ///     variables supply what it omits.
    ///   - account: The account in the table: any text without zero bytes.
    ///   - table: The table, see ``prepare()``.
    ///   - cipher: Encrypts the tokens. `UnencryptedTokenCipher` does not.
    ///   - options: Options that differ from the safe defaults.
    ///   - limits: Time limits, pauses and sizes.
    ///   - clock: Counts the limits of this process. Claims lapse on the database's clock.
    public init(
        connection: String,
        account: String = "default",
        table: PostgreSQLTable = .standard,
        cipher: any TokenCipher,
        options: PostgreSQLOptions = PostgreSQLOptions(),
        limits: PostgreSQLLimits = PostgreSQLLimits(),
        clock: any TimeSource = SystemTimeSource()
    ) {
        let hosts = options.cleartextHosts
        let database = PostgreSQLDatabase(
            connection: ConnectionString(connection, cleartextHosts: hosts),
            listeningAt: ConnectionString(options.directConnection ?? connection, cleartextHosts: hosts),
            table: table, limits: limits, clock: clock)
        let seal = SessionSeal(
            account: account, cipher: cipher, replacesUnreadableRows: options.replacesUnreadableRows,
            limit: limits.cipher, clock: clock)
        self.init(database: database, seal: seal, claimant: ProcessIdentity.current.claimText)
    }

    init(database: PostgreSQLDatabase, seal: SessionSeal, claimant: String) {
        account = seal.account
        session = AccountSession(
            database: database, statements: SessionStatements(table: database.table, account: seal.account),
            seal: seal, claimant: claimant, writers: LeaseQueue(clock: database.clock))
        holders = LeaseQueue(clock: database.clock)
    }

    private var database: PostgreSQLDatabase { session.database }

    /// The store of another account, any text without zero bytes, in the same table, over the same connections.
    public func store(for account: String) -> PostgreSQLTokenStore {
        var seal = session.seal
        seal.account = account
        return PostgreSQLTokenStore(database: database, seal: seal, claimant: session.claimant)
    }

    /// Creates the table if it does not exist. Several processes may do so at once.
    ///
    /// It needs the right to create tables in the schema. ``PostgreSQLTable/definition`` is the SQL for an
    /// administrator.
    ///
    /// - Throws: `TokenStoreError` with code `unavailable`.
    public func prepare() async throws { try await database.prepare() }

    /// Reads the stored session, or the tombstone of an ended one.
    ///
    /// - Returns: What is stored; `.empty` if the account has no row, or one without a session.
    /// - Throws: `TokenStoreError`: `unavailable`, also when the key does not fit; `busy` when no connection is free
    ///   in time; `unsupportedVersion` when a later version wrote the row; `corrupt` when it is larger than 1 MB;
    ///   `insecure` when the connection to another host would not be encrypted; a `TokenStoreError` of the cipher.
    ///   `CancellationError` when the task is cancelled while it waits for a connection.
    public func read() async throws -> StoredSession { try await session.read() }

    /// Reads what is stored, decides and writes, as one transaction that holds the lock of the account's row.
    ///
    /// It waits for other updates of the account, never for a lease, and runs to its end when the task is cancelled.
    ///
    /// - Parameter change: Decides what to store. It is called once, on any thread, while the row is locked.
    /// - Throws: As ``read()``; the stored content is then unchanged. If the connection is lost during the commit and
    ///   the database cannot be reached again in time, the change may have been made; the error says so.
    public func update(_ change: @escaping StoreChange) async throws { try await session.update(change) }

    /// Waits until no other holder has the account, and takes it.
    ///
    /// Waiters of this store get it in the order of their requests, waiters of several processes in no particular
    /// order. No connection is in use during the wait. A lease is renewed until it is released or deallocated.
    ///
    /// - Throws: `TokenStoreError`: `busy` when the limit passes first; otherwise as ``read()``. `CancellationError`
    ///   when the task is cancelled while it waits.
    public func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        let deadline = database.clock.uptime + limit
        let ticket = try await holders.take(waitingAtMost: limit, whileHeld: report)
        let statements = ClaimStatements(
            table: database.table, account: account, owner: session.claimant + UUID().uuidString.prefix(8),
            life: database.limits.claim, hasHeldSession: session.hasHeldSession.withLock { $0 })
        do {
            let wait = LeaseWait(database: database, statements: statements, report: report)
            let claim = try await wait.claim(until: deadline)
            return PostgreSQLTokenStoreLease(claim: claim, queue: holders, ticket: ticket)
        } catch {
            holders.release(ticket)
            throw error
        }
    }

    /// Reports that the stored session may have changed, by this process or another one.
    ///
    /// One connection of the process listens for all accounts. Without a direct connection to the server, the store
    /// polls every ``PostgreSQLLimits/changePolling``. The stream ends with the last store that shares its connections.
    public var changes: AsyncStream<Void> { database.changes.changes(of: account, since: session.seen.withLock { $0 }) }
}

extension PostgreSQLTokenStore: RedactedDescription {
    /// The table and the account, without the connection string.
    public var description: String { "PostgreSQLTokenStore(\(database.table), account: \(account))" }
}
#endif
