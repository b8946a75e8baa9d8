#if PostgreSQL
/// The table with the tokens: one row an account.
public struct PostgreSQLTable: Sendable, Hashable {
    /// `latchkey_tokens`, in the schema that the search path names first.
    public static let standard = PostgreSQLTable(quoted: "\"latchkey_tokens\"")

    /// The name as SQL writes it, in quotes.
    let quoted: String

    /// Names a table. Names are taken to the letter: capitals, blanks and quotes are part of them.
    ///
    /// It is `nil` when a name is empty, longer than 63 bytes (the server would cut it) or has a zero byte.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schema: The schema it is in. `nil`: the search path says.
    public init?(_ name: String, schema: String? = nil) {
        guard let table = Self.quote(name) else { return nil }
        guard let schema else {
            self.init(quoted: table)
            return
        }
        guard let schema = Self.quote(schema) else { return nil }
        self.init(quoted: schema + "." + table)
    }

    private init(quoted: String) {
        self.quoted = quoted
    }

    /// The SQL that ``PostgreSQLTokenStore/prepare()`` runs, for those who give their programs no right to create
    /// tables. A program needs `SELECT`, `INSERT`, `UPDATE` and `DELETE` on the table.
    public var definition: String {
        """
        CREATE TABLE IF NOT EXISTS \(quoted) (
            account text PRIMARY KEY,
            format_version bigint NOT NULL,
            generation bigint NOT NULL,
            session text NOT NULL,
            ciphertext bytea NOT NULL,
            updated_at timestamptz NOT NULL,
            lease_holder text,
            lease_server timestamptz,
            lease_until timestamptz
        )
        """
    }

    private static func quote(_ name: String) -> String? {
        guard (1...63).contains(name.utf8.count), !name.utf8.contains(0) else { return nil }
        var quoted = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" { quoted.unicodeScalars.append(scalar) }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}

extension PostgreSQLTable: CustomStringConvertible {
    /// The name as SQL writes it.
    public var description: String { quoted }
}
#endif
