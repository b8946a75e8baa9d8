#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// Why a statement returned no result.
///
/// It contains no message of libpq or the server, which may quote the connection string with its password, or values.
/// Each message is replaced by one of the sentences below.
struct PostgreSQLFailure: Error {
    enum Kind: Equatable {
        /// The connection could not be opened, and why.
        case notConnected(String)

        /// No attempt is made before this pause has passed, because the last one failed.
        case pausing(Duration)

        /// The connection was lost.
        case lost

        /// No response came in time.
        case silent

        /// The connection to another host would not be encrypted (G16), and what to do.
        case insecure(String)

        /// The server refused the statement.
        case refused(sqlState: String)
    }

    let kind: Kind

    /// Whether the statements may have taken effect all the same: the response to the commit is missing.
    var isUncertain = false

    /// Whether the connection can no longer be used. One to a database that takes no writes stays so, as a setting is
    /// that of its start, and as a standby may never become the primary: another one may lead to where they are taken.
    var endsConnection: Bool {
        switch kind {
        case .notConnected, .lost, .silent: true
        case .pausing, .insecure: false
        case .refused(let state): ["25006", "0A000"].contains(state)
        }
    }

    /// Whether another transaction has locked the row or table for longer than `PostgreSQLLimits.rowLock`.
    var isLockTimeout: Bool { kind == .refused(sqlState: "55P03") }

    /// Whether the same statement may succeed on another connection.
    var isOutage: Bool {
        switch kind {
        case .notConnected, .pausing, .lost, .silent: true
        case .insecure, .refused: false
        }
    }

    /// Classifies an error code of the server (SQLSTATE).
    static func refused(_ state: String) -> PostgreSQLFailure {
        // Connection exceptions, shutdowns and crashes, and sessions ended for having been idle.
        let isLoss = state.hasPrefix("08") || state.hasPrefix("57P") || ["25P03", "25P04"].contains(state)
        return PostgreSQLFailure(kind: isLoss ? .lost : .refused(sqlState: state))
    }

    /// Classifies a message of libpq about a connection that could not be opened.
    static func notConnected(_ message: String) -> PostgreSQLFailure {
        let reason = Self.sentences.first { $0.value.contains(where: message.contains) }?.key
        return PostgreSQLFailure(kind: .notConnected(reason ?? "the database cannot be reached"))
    }

    /// The sentences, each with the words in a message that it replaces. The first one that fits counts.
    private static let sentences: KeyValuePairs = [
        "the connection string is invalid": [
            "invalid connection option", "in connection info string", "URI", "percent-encoded", "invalid port number",
            "invalid integer value",
        ],
        "the connection string is invalid (sslmode)": ["invalid sslmode value"],
        "the connection string is invalid (target_session_attrs)": ["invalid target_session_attrs value"],
        "the service of the connection string is not defined (pg_service.conf)": [
            "definition of service", "service file",
        ],
        "the password was refused": ["password authentication failed"],
        "the server requires a password and none was given": ["no password supplied"],
        "the server does not admit this host, user and database (pg_hba.conf)": ["pg_hba.conf"],
        "the database server offers no TLS; switch it on, or name the host in cleartextHosts": [
            "does not support SSL"
        ],
        "TLS with the database server failed": ["certificate", "SSL"],
        "the server has no such database or role": ["does not exist"],
        "the database server is starting up": ["starting up"],
        "the database server is shutting down": ["shutting down"],
        "the database server is recovering": ["recovery"],
        "the database admits no further connection of this role or to this database": ["too many connections"],
        "the pooler has no connection left": ["no more connections"],
        "the database server has no connection left": ["too many clients", "connection slots"],
        "no server of the connection string takes writes": ["read-only"],
        "the host name is unknown": ["not translate host name"],
        "the database server did not respond in time": ["timeout expired"],
        "no database server listens there": ["Connection refused", "No such file"],
    ]

    /// The error for the store's caller. Nothing has changed, unless its reason says that this is not known.
    var storeError: TokenStoreError {
        let reason = isUncertain ? sentence + "; whether the change was made is not known" : sentence
        if case .insecure = kind { return TokenStoreError(.insecure, reason: reason) }
        return TokenStoreError(isLockTimeout ? .busy : .unavailable, reason: reason)
    }

    private var sentence: String {
        switch kind {
        case .notConnected(let reason): reason
        case .pausing(let pause): "the database could not be reached; the next attempt is in \(pause.inWords)"
        case .lost: "the connection to the database was lost"
        case .silent: "the database did not respond in time"
        case .insecure(let advice): advice
        case .refused(let state): Self.refusals[state] ?? "the database refused the statement (SQLSTATE \(state))"
        }
    }

    private static let refusals = [
        "42P01": "the table does not exist; call prepare() once, or run its SQL",
        "3F000": "the schema does not exist",
        "42703": "the table lacks a column of PostgreSQLTable.definition",
        "42501": "the role lacks a right on the table (it needs SELECT, INSERT, UPDATE and DELETE)",
        "25006": "the database is read-only; connect to the primary (target_session_attrs=read-write), or ask its "
            + "administrator (default_transaction_read_only)",
        "0A000": "the database is read-only; connect to the primary (target_session_attrs=read-write)",
        "55P03": "waited for the account's row, which another transaction has locked",
        "57014": "the statement took longer than its time limit",
        "53100": "the database server's disk is full",
        "22021": "the account or session has a character that the database cannot store",
        "22P05": "the account or session has a character that the database cannot store",
    ]
}
#endif
