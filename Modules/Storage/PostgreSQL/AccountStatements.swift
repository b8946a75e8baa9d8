#if PostgreSQL
import Foundation

/// The SQL for one account. The name of the table, in quotes, is the only part of it that is not written here.
///
/// Every statement begins by asking whether the lease it is made under still stands (`held`), and does nothing if not.
/// The server is the one to ask: the holder's own connection may be dead, frozen, or to a server that is no longer the
/// primary, without the holder having noticed.
struct AccountStatements: Sendable {
    let table: PostgreSQLTable
    let account: String

    /// One row: held, format version, generation, session, size, and the ciphertext unless it is larger than `limit`.
    func load(under fence: LeaseFence, atMost limit: Int) -> PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                WITH \(Self.held)
                SELECT held.ok, kept.format_version, kept.generation, kept.session,
                    octet_length(kept.ciphertext)::bigint,
                    CASE WHEN octet_length(kept.ciphertext) <= $4 THEN kept.ciphertext END
                FROM held LEFT JOIN \(table.quoted) AS kept ON held.ok AND kept.account = $3
                """,
            values: fence.values + [.text(account), .integer(Int64(limit))]
        )
    }

    /// One row: held, saved. A row of the same session is replaced by a later generation only, and one of a later
    /// format by none. The claim goes with the old tokens: once these are stored, nobody needs to be kept from them.
    func save(_ row: SealedBundle, under fence: LeaseFence) -> PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                WITH \(Self.held), saved AS (
                    INSERT INTO \(table.quoted) AS kept
                        (account, format_version, generation, session, ciphertext, updated_at)
                    SELECT $3, $4, $5, $6, $7, clock_timestamp() FROM held WHERE held.ok
                    ON CONFLICT (account) DO UPDATE SET
                        format_version = excluded.format_version, generation = excluded.generation,
                        session = excluded.session, ciphertext = excluded.ciphertext,
                        updated_at = excluded.updated_at,
                        lease_holder = NULL, lease_server = NULL, lease_until = NULL
                    WHERE kept.format_version <= excluded.format_version
                        AND (kept.session <> excluded.session OR kept.generation < excluded.generation)
                    RETURNING 1
                )
                SELECT held.ok, EXISTS (SELECT FROM saved) FROM held
                """,
            values: fence.values + [
                .text(account), .integer(row.version), .integer(row.generation), .text(row.session),
                .bytes(row.ciphertext),
            ]
        )
    }

    /// One row: held.
    func delete(under fence: LeaseFence) -> PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                WITH \(Self.held), gone AS (
                    DELETE FROM \(table.quoted) AS kept USING held WHERE held.ok AND kept.account = $3 RETURNING 1
                )
                SELECT held.ok FROM held
                """,
            values: fence.values + [.text(account)]
        )
    }

    /// One row: whether the lock was to be had. It lasts as long as the transaction, and the transaction, left alone,
    /// at most as long as a lease may.
    func lock(limits: PostgreSQLLimits) -> PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                SELECT pg_try_advisory_xact_lock(hashtextextended($1, $2::regclass::oid::bigint)),
                    set_config('idle_in_transaction_session_timeout', $3, true),
                    set_config('tcp_keepalives_idle', '10', true),
                    set_config('tcp_keepalives_interval', '5', true),
                    set_config('tcp_keepalives_count', '3', true)
                """,
            values: [.text(account), .text(table.quoted), .text(String(limits.lease.milliseconds))]
        )
    }

    /// One row: what ``LeaseFence`` knows the transaction by that holds the lock.
    static let identity = PostgreSQLStatement(
        text: """
            SELECT pid::bigint, virtualtransaction FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()
            """
    )

    /// One row: held, whether the row is there, whether it is claimed now. See ``LeaseGrip`` for what claims are for.
    ///
    /// A claim of another holder stands if it was made before the server restarted (or another server took over),
    /// until the time for its recovery is up. A time further off than that is no time but a clock that was set.
    func claim(by holder: String, under fence: LeaseFence, limits: PostgreSQLLimits) -> PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                WITH \(Self.held), clock AS (
                    SELECT clock_timestamp() AS now, pg_postmaster_start_time() AS started,
                        $5::bigint * interval '1 millisecond' AS recovery
                ), claimed AS (
                    UPDATE \(table.quoted) AS kept
                    SET lease_holder = $4, lease_server = clock.started, lease_until = clock.now + clock.recovery
                    FROM held, clock
                    WHERE held.ok AND kept.account = $3 AND (
                        kept.lease_holder IS NULL OR kept.lease_holder = $4 OR kept.lease_server = clock.started
                        OR NOT (
                            clock.now < kept.lease_until AND kept.lease_until <= clock.now + clock.recovery
                            OR clock.now < clock.started + clock.recovery AND clock.started <= clock.now
                        )
                    )
                    RETURNING 1
                )
                SELECT held.ok, EXISTS (SELECT FROM \(table.quoted) WHERE account = $3),
                    EXISTS (SELECT FROM claimed)
                FROM held
                """,
            values: fence.values + [.text(account), .text(holder), .integer(limits.recovery.milliseconds)]
        )
    }

    /// Ends a claim. It belongs into the transaction that holds the lock: both end at once, or neither.
    func unclaim(by holder: String) -> PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                UPDATE \(table.quoted) SET lease_holder = NULL, lease_server = NULL, lease_until = NULL
                WHERE account = $1 AND lease_holder = $2
                """,
            values: [.text(account), .text(holder)]
        )
    }

    private static let held = """
        held AS (
            SELECT $1::bigint = 0 OR EXISTS (
                SELECT FROM pg_locks
                WHERE locktype = 'advisory' AND granted AND pid = $1 AND virtualtransaction = $2
            ) AS ok
        )
        """
}

/// The transaction that a lease is, by the names the server has for it. While it lasts it holds the lock, for that kind
/// of lock can only be let go of by ending.
struct LeaseFence: Sendable {
    /// No lease: for those who read and write without one.
    static let none = LeaseFence(process: 0, transaction: "")

    let process: Int64
    let transaction: String

    var isNone: Bool { process == 0 }

    fileprivate var values: [PostgreSQLValue] { [.integer(process), .text(transaction)] }
}
#endif
