#if PostgreSQL
import AuthInterface
import CPostgreSQL
import Foundation

/// Where the database is and how to log in. It may hold a password, so it shows nothing of itself.
struct ConnectionString: Sendable, RedactedDescription {
    let security: TransportSecurity

    private let text: String

    init(_ text: String, cleartextHosts: Set<String> = []) {
        self.text = text
        security = TransportSecurity(cleartextHosts: Set(cleartextHosts.map { $0.lowercased() }))
    }

    var description: String { "<redacted>" }

    /// The settings in libpq's words. Of two for one keyword the later one counts: ours before the text are defaults.
    ///
    /// The keep-alives detect a server that is gone without having closed its connections.
    ///
    /// - Throws: ``PostgreSQLFailure``, when the text cannot be read or would send tokens in clear to another host.
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

    /// The options that the text names.
    private func namedOptions() throws(PostgreSQLFailure) -> [String: String] {
        // A C string would end at a zero byte, and the rest go unnoticed.
        guard !text.utf8.contains(0) else { throw .notConnected("invalid connection option") }
        // The message would quote the text, and the password in it. It is not asked for.
        guard let options = PQconninfoParse(text, nil) else { throw .notConnected("invalid connection option") }
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
