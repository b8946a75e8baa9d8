#if PostgreSQL
public import AuthInterface

/// Keeps the tokens of one account in a PostgreSQL database, shared by all processes on all hosts that reach it.
///
/// For a fleet of servers that act with one rotating credential. Each process has a store, and a coordinator over it:
///
/// ```swift
/// let store = PostgreSQLTokenStore(connection: "service=tokens", account: "partner", cipher: cipher)
/// try await store.prepare()
/// let session = TokenRefreshCoordinator(store: store, handler: handler)
/// ```
/// **Sharing** (G13): one process of the fleet refreshes while the others wait, and they adopt what it brought. A lease
/// ends with its holder: at once when the process dies, after ``PostgreSQLLimits/lease`` at the latest when the network
/// parts it from the server. What a holder does after that is refused by the server (`leaseLost`); a restart of the
/// server in the middle of a refresh leaves the holder ``PostgreSQLLimits/recovery`` to save what it has.
///
/// **Outages** (G14): a server that cannot be reached, starts up, or takes no writes is *unavailable*, never *none*.
/// Connections are opened at the first call, again after they were lost, and not all the time while that fails.
///
/// **Writing** is one statement that compares session and generation with what is stored, committed to disk before the
/// call returns (G11, G12). Calls run to their end on threads of their own, even when the task that waits for them is
/// cancelled.
///
/// No error contains anything that libpq or the server said: either may quote the connection string, and so the
/// password. See <doc:SharingTokensInPostgreSQL> for the table, the time-outs, and what this protects against.
public struct PostgreSQLTokenStore: TransitionalSharedStore {
    /// The account whose tokens these are.
    public let account: String

    private let database: PostgreSQLDatabase
    private let cipher: any TokenCipher
    private let row: PostgreSQLAccount
    private let queue: LeaseQueue

    /// Creates a store. No connection is made before the first call.
    ///
    /// - Parameters:
    ///   - connection: Where the database is and how to log in: what libpq calls a connection string, as keywords
    ///     (`host=… dbname=…`) or URI. What it leaves out is taken from the `PG…` environment variables.
    ///   - account: Tells the accounts of one table apart. Any text will do, but for zero bytes.
    ///   - table: The table.
    ///   - cipher: Encrypts the tokens. ``UnencryptedTokenCipher`` does not.
    ///   - limits: The time-outs.
    ///   - time: The clocks that limit the wait for a lease and space attempts to connect.
    public init(
        connection: String,
        account: String = "default",
        table: PostgreSQLTable = .standard,
        cipher: any TokenCipher,
        limits: PostgreSQLLimits = PostgreSQLLimits(),
        time: any TimeSource = SystemTimeSource()
    ) {
        let place = ConnectionString(connection)
        self.init(
            database: PostgreSQLDatabase(place: place, table: table, limits: limits, time: time),
            account: account,
            cipher: cipher
        )
    }

    private init(database: PostgreSQLDatabase, account: String, cipher: any TokenCipher) {
        self.database = database
        self.account = account
        self.cipher = cipher
        row = PostgreSQLAccount(account, in: database, cipher: cipher)
        queue = LeaseQueue(time: database.time)
    }

    /// The store of another account in the same table, over the same connections.
    ///
    /// - Parameter account: The account.
    /// - Returns: Its store.
    public func store(for account: String) -> PostgreSQLTokenStore {
        PostgreSQLTokenStore(database: database, account: account, cipher: cipher)
    }

    /// Creates the table, if it is not there. Any number of processes may do so at once.
    ///
    /// It needs the right to create tables in the schema; ``PostgreSQLTable/definition`` is the SQL for those who would
    /// rather run it themselves.
    ///
    /// - Throws: ``TokenStoreError`` with code `unavailable`.
    public func prepare() async throws {
        try await database.prepare()
    }

    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if the account has no row.
    /// - Throws: ``TokenStoreError``: `unavailable`; `unsupportedVersion` when a later version wrote the row; `corrupt`
    ///   when it cannot be decrypted, is of another row, or larger than 1 MB. What the cipher throws of that type.
    public func load() async throws -> TokenBundle? {
        try await row.load()
    }

    /// Stores a bundle in place of any that is there.
    ///
    /// A row that cannot be read gives way to another session, and to a later generation of its own.
    ///
    /// - Parameter bundle: The bundle to store. The tokens that are stored already, at the same generation, are left as
    ///   they are.
    /// - Throws: ``TokenStoreError``, with what was stored before still there: `superseded` when a later bundle of the
    ///   same session is there, or other tokens of the same generation; `unsupportedVersion`; `busy`; `unavailable`.
    ///   Only when the connection is lost during the commit may the new one be there in spite of an error; it says so.
    public func save(_ bundle: TokenBundle) async throws {
        try await row.save(bundle)
    }

    /// Removes the row of the account, whatever is in it. Other accounts keep theirs.
    ///
    /// - Throws: ``TokenStoreError`` with code `unavailable`.
    public func delete() async throws {
        try await row.delete()
    }

    /// Waits until no other holder has the account, and takes it.
    ///
    /// Within this store waiters have their turn in the order in which they asked. Among processes they ask again and
    /// again, ten times a second in the end, and chance decides. A lease that is dropped without being released is
    /// released.
    ///
    /// Its calls throw ``TokenStoreError`` with code `leaseLost`, and change nothing, once the lease is over without
    /// having been released.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The store as its holder uses it.
    /// - Throws: ``TokenStoreError``: `busy` when the limit passes first; `unavailable`. `CancellationError` when the
    ///   task is cancelled while it waits.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        let deadline = database.time.uptime + limit
        let ticket = try await queue.take(waitingAtMost: limit)
        do {
            let grip = try await grip(until: deadline)
            return PostgreSQLTokenStoreLease(account: row, grip: grip, queue: queue, ticket: ticket)
        } catch {
            queue.giveBack(ticket)
            throw error
        }
    }

    /// Asks for the lease until it is had.
    private func grip(until deadline: Duration) async throws -> LeaseGrip {
        let time = database.time
        var pause: Duration = .milliseconds(2)
        while true {
            if let grip = try await LeaseGrip.take(row.statements, in: database) { return grip }
            let now = time.uptime
            guard now < deadline else { throw TokenStoreError.busy }
            // A part of the pause is left to chance: waiters in step would all ask while the lease is held.
            try await time.sleep(until: min(deadline, now + pause * Double.random(in: 0.5...1)))
            // A clock that does not look for cancellation must not make us take what nobody waits for.
            try Task.checkCancellation()
            pause = min(pause * 2, .milliseconds(100))
        }
    }
}

extension PostgreSQLTokenStore: SecretBearing {
    /// The table and the account; nothing of the connection.
    public var description: String { "PostgreSQLTokenStore(\(database.table), account: \(account))" }
}
#endif
