#if PostgreSQL
import AuthInterface

/// Where the database is and how to log in. It may hold a password, so it shows nothing of itself.
struct ConnectionString: Sendable, SecretBearing {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    var description: String { "<redacted>" }

    /// The settings in libpq's words. Of two for one thing the later one counts: ours before the text yield to it.
    ///
    /// The keep-alives find out about a server that has gone without a word.
    func settings(connectLimit: Duration) -> [(keyword: String, value: String)] {
        [
            ("connect_timeout", String(max(2, connectLimit.wholeSeconds))),
            ("keepalives_idle", "10"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
            ("tcp_user_timeout", "15000"),
            ("fallback_application_name", "latchkey"),
            ("dbname", text),
            ("client_encoding", "UTF8"),
        ]
    }

    /// A C string would end at a zero byte, and the rest go unnoticed.
    var hasZeroByte: Bool { text.utf8.contains(0) }
}
#endif
