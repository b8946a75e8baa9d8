#if PostgreSQL
import AuthInterface
import CPostgreSQL
import Foundation

/// The address of the database and the login. It may contain a password, so its description is empty of both.
struct ConnectionString: Sendable, RedactedDescription {
    let security: TransportSecurity

    private let text: String

    init(_ text: String, cleartextHosts: Set<String> = []) {
        self.text = text
        security = TransportSecurity(cleartextHosts: Set(cleartextHosts.map { $0.lowercased() }))
    }

    var description: String { "<redacted>" }

    /// What other programs put into such a text. Only these are named: of a text that cannot be parsed, anything else
    /// may be a part of the password.
    private static let foreignOptions = [
        "pgbouncer", "schema", "connection_limit", "pool_timeout", "pool_mode", "socket_timeout", "sslaccept",
        "statement_cache_size", "prepareThreshold", "currentSchema",
    ]

    /// The settings for libpq. Of two with one keyword the later one counts, so those before the text are defaults. The
    /// keep-alives detect a server that has not closed its connections.
    ///
    /// - Throws: ``PostgreSQLFailure`` when the text cannot be parsed or would send tokens unencrypted to another host.
    func settings(connectLimit: Duration) throws(PostgreSQLFailure) -> [(keyword: String, value: String)] {
        let named = try namedOptions()
        let defaults = [
            ("connect_timeout", String(max(2, connectLimit.wholeSeconds))),
            ("keepalives_idle", "10"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
            ("tcp_user_timeout", "15000"),
            ("fallback_application_name", "latchkey"),
            ("dbname", text),
            ("client_encoding", "UTF8"),
        ]
        switch security.rule(for: named, environment: ProcessInfo.processInfo.environment) {
        case .asGiven: return defaults
        case .requireTLS: return defaults + [("sslmode", "require")]
        case .refuse(let reason): throw PostgreSQLFailure(kind: .insecure(reason))
        }
    }

    private func namedOptions() throws(PostgreSQLFailure) -> [String: String] {
        // A C string ends at a zero byte: the rest would be ignored.
        guard !text.utf8.contains(0) else { throw .notConnected("invalid connection option") }
        // The error message is not requested: it would quote the text and the password in it.
        guard let options = PQconninfoParse(text, nil) else {
            let foreign = Self.foreignOptions.filter { text.contains("\($0)=") }
            guard !foreign.isEmpty else { throw .notConnected("invalid connection option") }
            let names = foreign.joined(separator: ", ")
            throw PostgreSQLFailure(
                kind: .notConnected("the connection string is invalid; remove what libpq does not know: \(names)"))
        }
        defer { PQconninfoFree(options) }
        var named: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { named[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return named
    }
}
#endif
