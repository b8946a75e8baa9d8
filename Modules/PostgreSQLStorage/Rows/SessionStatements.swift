#if PostgreSQL
/// The SQL for the session of one account. Only the quoted name of the table is inserted into it.
///
/// `version` grows with each change of a row, also if the row was removed in between, because it is at least the number
/// of the transaction.
struct SessionStatements: Sendable {
    let table: PostgreSQLTable
    let account: String

    /// Reads the row, and optionally locks it until the transaction ends. Content over the size limit is omitted.
    func read(isLocking: Bool) -> PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                SELECT version, format_version, session, generation,
                    CASE WHEN octet_length(ciphertext) <= $2 THEN ciphertext END,
                    CASE WHEN octet_length(ended) <= $2 THEN ended END,
                    greatest(octet_length(ciphertext), octet_length(ended))::bigint, claim_fence, claim_owner
                FROM \(table.quoted) WHERE account = $1 \(isLocking ? "FOR NO KEY UPDATE" : "")
                """,
            values: [.text(account), .integer(Int64(SealedSession.sizeLimit))])
    }

    /// Inserts an empty row, locked until the transaction ends. It returns no row if another process has just inserted
    /// it.
    var make: PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                INSERT INTO \(table.quoted) (account, version, last_writer)
                VALUES ($1, txid_current(), txid_current())
                ON CONFLICT (account) DO NOTHING RETURNING version
                """,
            values: [.text(account)])
    }

    /// Stores a session in the locked row, and notifies other processes. One row: the row's version. While a refresh is
    /// pending, the owners of lapsed claims are kept; a row that something else has written is not free for a claim for
    /// one claim's life.
    func write(_ sealed: SealedSession, keepsLapsed: Bool, claimLife: Duration) -> PostgreSQLStatement {
        let content: [PostgreSQLValue] =
            switch sealed.content {
            case .tokens(let session, let generation, let ciphertext):
                [.text(session), .integer(generation), .bytes(ciphertext), .bytes(nil)]
            case .tombstone(let data): [.text(nil), .integer(nil), .bytes(nil), .bytes(data)]
            }
        return PostgreSQLStatement(
            text: """
                UPDATE \(table.quoted) AS kept SET version = greatest(version + 1, txid_current()),
                    last_writer = txid_current(), format_version = $2,
                    session = $3, generation = $4, ciphertext = $5, ended = $6, updated_at = clock_timestamp(),
                    lapsed_owners = CASE WHEN $7 THEN lapsed_owners ELSE '{}' END,
                    unclaimed_until = CASE WHEN \(ClaimStatements.wasWrittenByOthers)
                        THEN clock_timestamp() + $10::bigint * interval '1 millisecond' ELSE unclaimed_until END
                WHERE account = $1 RETURNING version, pg_notify($8, $9 || version)::text
                """,
            values: [.text(account), .integer(sealed.format)] + content + [.flag(keepsLapsed)] + report
                + [.integer(claimLife.milliseconds)])
    }

    /// Removes what is stored, and notifies other processes. The row stays while its lease is claimed. One row: its
    /// version, zero if it was deleted.
    var remove: PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                WITH gone AS (
                    DELETE FROM \(table.quoted) WHERE account = $1 AND claim_owner IS NULL
                ), cleared AS (
                    UPDATE \(table.quoted) SET version = greatest(version + 1, txid_current()),
                        last_writer = txid_current(), format_version = NULL, session = NULL, generation = NULL,
                        ciphertext = NULL, ended = NULL, updated_at = NULL, lapsed_owners = '{}'
                    WHERE account = $1 AND claim_owner IS NOT NULL RETURNING version
                )
                SELECT version, pg_notify($2, $3 || version)::text
                FROM (SELECT coalesce((SELECT version FROM cleared), 0) AS version) AS now
                """,
            values: [.text(account)] + report)
    }

    private var report: [PostgreSQLValue] {
        [.text(ChangeReport.channel(of: table)), .text(ChangeReport.changeStem(of: account))]
    }
}
#endif
