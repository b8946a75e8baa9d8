#if PostgreSQL
import CPostgreSQL
import Foundation

/// One connection to the database, over libpq. Its calls block, each for a bounded time, so it is for threads that may
/// be blocked, and for one of them at a time.
final class PostgreSQLConnection {
    /// How much longer than `statement_timeout` an answer may take to arrive.
    static let grace: Duration = .seconds(1)

    /// Whether no further statement can be sent.
    private(set) var isBroken = false

    private let connection: OpaquePointer
    private let limits: PostgreSQLLimits

    private init(connection: OpaquePointer, limits: PostgreSQLLimits) {
        self.connection = connection
        self.limits = limits
    }

    deinit { PQfinish(connection) }

    /// Connects and logs in.
    ///
    /// - Throws: ``PostgreSQLFailure``, after `limits.connect` for each address at the latest.
    static func open(
        _ place: ConnectionString,
        limits: PostgreSQLLimits
    ) throws(PostgreSQLFailure) -> PostgreSQLConnection {
        guard !place.hasZeroByte else { throw .notConnected("invalid connection option") }
        let settings = place.settings(connectLimit: limits.connect)
        let keywords = settings.map { strdup($0.keyword) } + [nil]
        let values = settings.map { strdup($0.value) } + [nil]
        defer { for text in keywords + values { free(text) } }
        let opened = PQconnectdbParams(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1)
        guard let opened else { throw .notConnected("") }
        guard PQstatus(opened) == CONNECTION_OK else {
            defer { PQfinish(opened) }
            throw .notConnected(String(cString: PQerrorMessage(opened)))
        }
        // By default libpq writes notices to standard error.
        PQsetNoticeReceiver(opened, { _, _ in }, nil)
        PQsetnonblocking(opened, 1)
        return PostgreSQLConnection(connection: opened, limits: limits)
    }

    /// Runs statements as one transaction.
    ///
    /// Reads too ask for one that may write: a standby would answer with tokens that have been replaced, and a copy of
    /// the last lock.
    ///
    /// - Parameter body: Runs the statements.
    /// - Returns: What `body` returns.
    /// - Throws: ``PostgreSQLFailure``. Nothing has changed then, unless it says that this is uncertain.
    func transaction<Value>(
        _ body: (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) throws(PostgreSQLFailure) -> Value {
        try begin()
        let value: Value
        do throws(PostgreSQLFailure) {
            value = try body(self)
        } catch {
            rollBack()
            throw error
        }
        try commit()
        return value
    }

    /// Begins a transaction. The limits are the transaction's own: behind a pooler the session is not ours to set.
    ///
    /// What is committed must be on the disk (G11), however the database is set up.
    func begin() throws(PostgreSQLFailure) {
        try execute(PostgreSQLStatement(text: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"))
        let setting = PostgreSQLStatement(
            text: """
                SELECT set_config('statement_timeout', $1, true), set_config('synchronous_commit',
                    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                        ELSE current_setting('synchronous_commit') END, true)
                """,
            values: [.text(String(limits.statement.milliseconds))]
        )
        do throws(PostgreSQLFailure) {
            try execute(setting)
        } catch {
            rollBack()
            throw error
        }
    }

    func commit() throws(PostgreSQLFailure) {
        do throws(PostgreSQLFailure) {
            try execute(PostgreSQLStatement(text: "COMMIT"))
        } catch {
            var failure = error
            failure.isUncertain = isBroken
            throw failure
        }
    }

    /// Ends a transaction that must not take effect. If that fails, the connection ends, and the transaction with it.
    func rollBack() {
        guard !isBroken else { return }
        if (try? execute(PostgreSQLStatement(text: "ROLLBACK"))) == nil { isBroken = true }
    }

    /// Runs one statement.
    ///
    /// - Throws: ``PostgreSQLFailure``.
    @discardableResult
    func execute(_ statement: PostgreSQLStatement) throws(PostgreSQLFailure) -> PostgreSQLAnswer {
        do throws(PostgreSQLFailure) {
            guard !isBroken, send(statement) else { throw PostgreSQLFailure(kind: .lost) }
            return try receive(until: .now + limits.statement + Self.grace)
        } catch {
            if error.endsConnection || PQstatus(connection) == CONNECTION_BAD { isBroken = true }
            throw error
        }
    }

    private func send(_ statement: PostgreSQLStatement) -> Bool {
        let encoded = statement.values.map(\.encoded)
        // One byte more, so that even no value at all has an address: a null pointer would be SQL's null.
        let bytes = encoded.flatMap(\.self) + [0]
        return bytes.withUnsafeBytes { bytes in
            var offset = 0
            let addresses = encoded.map { value in
                defer { offset += value.count }
                return bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryParams(
                connection,
                statement.text,
                Int32(encoded.count),
                statement.values.map(\.type),
                addresses,
                encoded.map { Int32($0.count) },
                encoded.map { _ in 1 },
                1
            ) == 1
        }
    }

    private func receive(until deadline: ContinuousClock.Instant) throws(PostgreSQLFailure) -> PostgreSQLAnswer {
        var outcome: Result<PostgreSQLAnswer, PostgreSQLFailure> = .failure(PostgreSQLFailure(kind: .lost))
        var isFirst = true
        while true {
            try waitForResult(until: deadline)
            guard let result = PQgetResult(connection) else { return try outcome.get() }
            if isFirst { outcome = Self.read(result) }
            isFirst = false
            PQclear(result)
        }
    }

    private func waitForResult(until deadline: ContinuousClock.Instant) throws(PostgreSQLFailure) {
        while true {
            let rest = PQflush(connection)
            guard rest >= 0 else { throw PostgreSQLFailure(kind: .lost) }
            if rest == 0, PQisBusy(connection) == 0 { return }
            try waitForSocket(rest == 0 ? POLLIN : POLLIN | POLLOUT, until: deadline)
            guard PQconsumeInput(connection) == 1 else { throw PostgreSQLFailure(kind: .lost) }
        }
    }

    private func waitForSocket(_ events: Int32, until deadline: ContinuousClock.Instant) throws(PostgreSQLFailure) {
        let left = deadline - .now
        guard left > .zero else { throw PostgreSQLFailure(kind: .silent) }
        var watched = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
        // A signal ends the wait early, which does no harm: the caller looks again.
        _ = poll(&watched, 1, Int32(clamping: left.milliseconds))
    }

    private static func read(_ result: OpaquePointer) -> Result<PostgreSQLAnswer, PostgreSQLFailure> {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            let columns = 0..<PQnfields(result)
            return .success(
                PostgreSQLAnswer(
                    rows: (0..<PQntuples(result)).map { row in columns.map { value(result, row, $0) } }
                )
            )
        default:
            let stateField = Int32(UInt8(ascii: "C"))  // PG_DIAG_SQLSTATE
            guard let state = PQresultErrorField(result, stateField) else {
                return .failure(PostgreSQLFailure(kind: .lost))
            }
            return .failure(.refused(String(cString: state)))
        }
    }

    private static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> Data? {
        guard PQgetisnull(result, row, column) == 0 else { return nil }
        return Data(bytes: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }
}
#endif
