#if PostgreSQL
import CPostgreSQL
import Foundation

/// One connection to the database, over libpq. Its calls block for a limited time. One thread may use it at a time.
final class PostgreSQLConnection {
    /// How much longer than `statement_timeout`, or than its call, a response may take to arrive.
    static let grace: Duration = .seconds(1)

    /// Whether no further statement can be sent.
    private(set) var isBroken = false

    /// When the call ends that uses the connection. A statement that is sent shortly before, or later, has ``grace``
    /// for its response: the server may be well, and the time have passed elsewhere. `nil`: the limit of a statement
    /// alone.
    var deadline: ContinuousClock.Instant?

    let connection: OpaquePointer
    private let limits: PostgreSQLLimits

    private init(connection: OpaquePointer, limits: PostgreSQLLimits) {
        self.connection = connection
        self.limits = limits
    }

    deinit { PQfinish(connection) }

    /// Connects and logs in, within `limits.connect` for each address.
    static func open(
        _ connection: ConnectionString, limits: PostgreSQLLimits
    ) throws(PostgreSQLFailure) -> PostgreSQLConnection {
        let settings = try connection.settings(connectLimit: limits.connect)
        let keywords = settings.map { strdup($0.keyword) } + [nil]
        let values = settings.map { strdup($0.value) } + [nil]
        defer { for text in keywords + values { free(text) } }
        let opened = PQconnectdbParams(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1)
        guard let opened else { throw .notConnected("") }
        guard PQstatus(opened) == CONNECTION_OK else {
            defer { PQfinish(opened) }
            throw .notConnected(String(cString: PQerrorMessage(opened)))
        }
        if let reason = refusal(of: opened, connection.security) {
            PQfinish(opened)
            throw PostgreSQLFailure(kind: .insecure(reason))
        }
        // By default libpq writes notices to standard error.
        PQsetNoticeReceiver(opened, { _, _ in }, nil)
        PQsetnonblocking(opened, 1)
        return PostgreSQLConnection(connection: opened, limits: limits)
    }

    /// The reason why tokens must not be sent over a connection; `nil` if they may be.
    private static func refusal(of connection: OpaquePointer, _ security: TransportSecurity) -> String? {
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var peer = Data(count: Int(size))
        let isKnown = peer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map {
                getpeername(PQsocket(connection), $0.assumingMemoryBound(to: sockaddr.self), &size)
            }
        }
        return security.checkOpen(
            isEncrypted: PQsslInUse(connection) == 1 || PQgssEncInUse(connection) == 1,
            host: PQhost(connection).map { String(cString: $0) } ?? "",
            peer: isKnown == 0 ? peer.prefix(Int(size)) : Data())
    }

    /// Runs statements as one transaction. After a failure nothing has changed, unless the failure is uncertain.
    ///
    /// Reads also need a transaction that may write: a standby could return tokens that have been replaced.
    func transaction<Value>(
        isDurable: Bool = true, _ body: (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) throws(PostgreSQLFailure) -> Value {
        try begin(isDurable: isDurable)
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

    /// Starts a transaction. All settings are local to it, because a pooler then gives the session to another client.
    ///
    /// A database whose transactions are to be read-only is not used: its administrator has frozen it. A durable commit
    /// returns only when its changes are on the disk (G11), with any settings of the database.
    func begin(isDurable: Bool = true) throws(PostgreSQLFailure) {
        let idle = limits.cipher * 2 + limits.statement
        let durability = """
            SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                ELSE current_setting('synchronous_commit') END, true)
            """
        do throws(PostgreSQLFailure) {
            let isFrozen = try execute(
                script: """
                    BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
                    SET LOCAL statement_timeout = \(limits.statement.milliseconds);
                    SET LOCAL lock_timeout = \(limits.rowLock.milliseconds);
                    SET LOCAL idle_in_transaction_session_timeout = \(idle.milliseconds);
                    SELECT current_setting('default_transaction_read_only');
                    \(isDurable ? durability : "SET LOCAL synchronous_commit = off")
                    """
            ).text(0)
            if isFrozen == "on" { throw PostgreSQLFailure(kind: .refused(sqlState: "25006")) }
        } catch {
            if error.endsConnection { isBroken = true } else { rollBack() }
            throw error
        }
    }

    /// Commits. The failure is uncertain when the connection was lost meanwhile.
    func commit() throws(PostgreSQLFailure) {
        do throws(PostgreSQLFailure) {
            try execute(script: "COMMIT")
        } catch {
            var failure = error
            failure.isUncertain = isBroken
            throw failure
        }
    }

    /// Rolls back the transaction. If that fails, the connection ends, and the transaction with it.
    func rollBack() {
        guard !isBroken else { return }
        if (try? execute(script: "ROLLBACK")) == nil { isBroken = true }
    }

    @discardableResult
    func execute(_ statement: PostgreSQLStatement) throws(PostgreSQLFailure) -> PostgreSQLRows {
        try exchange { send(statement) }
    }

    /// Runs statements without values in one round trip. Returns the first rows of any of them, in which every value is
    /// a text, or throws the first failure.
    @discardableResult
    func execute(script: String) throws(PostgreSQLFailure) -> PostgreSQLRows {
        try exchange { PQsendQuery(connection, script) == 1 }
    }

    @discardableResult
    private func exchange(_ send: () -> Bool) throws(PostgreSQLFailure) -> PostgreSQLRows {
        do throws(PostgreSQLFailure) {
            guard !isBroken, send() else { throw PostgreSQLFailure(kind: .lost) }
            let now = ContinuousClock.now
            let limit = now + limits.statement + Self.grace
            return try receive(until: deadline.map { min(max($0, now + Self.grace), limit) } ?? limit)
        } catch {
            if error.endsConnection || PQstatus(connection) == CONNECTION_BAD { isBroken = true }
            throw error
        }
    }

    private func send(_ statement: PostgreSQLStatement) -> Bool {
        let encoded = statement.values.map(\.encoded)
        // One byte more, so that empty bytes have an address: a null pointer would be SQL's null.
        let bytes = encoded.compactMap(\.self).flatMap(\.self) + [0]
        return bytes.withUnsafeBytes { bytes in
            var offset = 0
            let addresses = encoded.map { (value: [UInt8]?) -> UnsafePointer<CChar>? in
                guard let value else { return nil }
                defer { offset += value.count }
                return bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryParams(
                connection, statement.text, Int32(encoded.count), statement.values.map(\.type), addresses,
                encoded.map { Int32($0?.count ?? 0) }, encoded.map { _ in 1 }, 1
            ) == 1
        }
    }

    /// Receives all results, and returns the first one that has rows or throws the first failure.
    private func receive(until deadline: ContinuousClock.Instant) throws(PostgreSQLFailure) -> PostgreSQLRows {
        var rows: PostgreSQLRows?
        var failure: PostgreSQLFailure?
        while true {
            try waitForResult(until: deadline)
            guard let result = PQgetResult(connection) else { break }
            defer { PQclear(result) }
            switch Self.read(result) {
            case .success(let read): if rows?.isEmpty ?? true { rows = read }
            case .failure(let read): failure = failure ?? read
            }
        }
        if let failure { throw failure }
        guard let rows else { throw PostgreSQLFailure(kind: .lost) }
        return rows
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
        // A signal ends the wait early. The caller waits again.
        _ = poll(&watched, 1, Int32(clamping: left.milliseconds))
    }

    private static func read(_ result: OpaquePointer) -> Result<PostgreSQLRows, PostgreSQLFailure> {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            let columns = 0..<PQnfields(result)
            return .success(
                PostgreSQLRows(rows: (0..<PQntuples(result)).map { row in columns.map { value(result, row, $0) } }))
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
