#if PostgreSQL
/// The table of the tokens: one row for each account.
public struct PostgreSQLTable: Sendable, Hashable {
    /// `latchkey_tokens`, in the first schema of the search path.
    public static let standard = PostgreSQLTable(name: "\"latchkey_tokens\"")

    /// The quoted name for SQL.
    let quoted: String

    /// The quoted name without its schema. One program may find a table by its search path that another one names with
    /// its schema.
    let name: String

    /// Creates the name of a table. Capitals, blanks and quotes are part of the name.
    ///
    /// It is `nil` when a name is empty, longer than 63 bytes (the server would cut it) or has a zero byte.
    ///
    /// - Parameters:
    ///   - name: The name without quotes.
    ///   - schema: The name of the schema. `nil`: the first schema of the search path.
    public init?(_ name: String, schema: String? = nil) {
        guard let table = Self.quote(name) else { return nil }
        guard let schema else {
            self.init(name: table)
            return
        }
        guard let schema = Self.quote(schema) else { return nil }
        self.init(name: table, schema: schema + ".")
    }

    private init(name: String, schema: String = "") { (quoted, self.name) = (schema + name, name) }

    /// The SQL of ``PostgreSQLTokenStore/prepare()``, for programs without the right to create tables.
    ///
    /// The program's role needs `SELECT`, `INSERT`, `UPDATE` and `DELETE` on the table. A role that only reads, for
    /// followers of a table that a `FollowedTokenStore` publishes in, needs `SELECT`.
    public var definition: String {
        """
        CREATE TABLE IF NOT EXISTS \(quoted) (
            account text PRIMARY KEY,
            version bigint NOT NULL,
            format_version bigint,
            session text,
            generation bigint,
            ciphertext bytea,
            ended bytea,
            updated_at timestamptz,
            claim_owner text,
            claim_fence bigint NOT NULL DEFAULT 0,
            claim_heartbeat timestamptz,
            claim_expires timestamptz,
            claim_since timestamptz,
            lapsed_owners text[] NOT NULL DEFAULT '{}',
            released_fences bigint[] NOT NULL DEFAULT '{}',
            last_writer bigint,
            unclaimed_until timestamptz
        ) WITH (fillfactor = 70);
        """
    }

    private static func quote(_ name: String) -> String? {
        guard (1...63).contains(name.utf8.count), !name.utf8.contains(0) else { return nil }
        // By scalars: a mark that is combined with another one is another character, and ends the name all the same.
        let parts = name.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
        return "\"" + parts.map(String.init).joined(separator: "\"\"") + "\""
    }
}

extension PostgreSQLTable: CustomStringConvertible {
    /// The quoted name for SQL.
    public var description: String { quoted }
}
#endif
