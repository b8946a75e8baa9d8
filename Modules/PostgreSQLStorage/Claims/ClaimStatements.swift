#if PostgreSQL
/// The SQL for the lease of one account: a claim in its row.
///
/// A claim has an owner and a fence number that grows with every claim, in steps with a random part: a server that has
/// lost commits in a failover would issue the numbers of the lost claims again. It lapses at an instant of the
/// database's clock unless it is renewed. Taking, renewing and releasing are one short transaction each, on any
/// connection. A lease holds no connection, has no state in a session of the server, and works through a pooler.
struct ClaimStatements: Sendable {
    let table: PostgreSQLTable
    let account: String

    /// The process and one request for the lease. A claim with the same owner was made by this request, and the
    /// response to its commit was lost.
    let owner: String

    let life: Duration

    /// Whether this store has read or written a session of the account. A row that is missing then was deleted by
    /// something else, together with the claim that it may have had.
    let hasHeldSession: Bool

    /// Takes the claim if it is free. One row: fence, the fences that were released last (with commas; null if the
    /// account had no row), milliseconds until the claim may be free, and the owner of the claim before with the
    /// seconds from 1970 to its taking. The fence is null if the claim is not free.
    ///
    /// A claim is free when it was released or has lapsed. It does not lapse while the server has been up for less than
    /// the claim's life, because its owner could not renew it. A claim that was renewed in the future is free: the
    /// clock was set back since.
    ///
    /// A row that something else has written, a person or a backup, may have lost a claim (``wasWrittenByOthers``). It
    /// is not free for the life of a claim, in which its owner renews it. The same holds for one that it has deleted
    /// (``hasHeldSession``).
    var take: PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                WITH clock AS MATERIALIZED (
                    SELECT clock_timestamp() AS now, pg_postmaster_start_time() AS started,
                        $3::bigint * interval '1 millisecond' AS life
                ), held AS (
                    UPDATE \(table.quoted) AS kept
                    SET last_writer = txid_current(), unclaimed_until = clock.now + clock.life
                    FROM clock WHERE kept.account = $1 AND (\(Self.wasWrittenByOthers)) RETURNING kept.account
                ), taken AS (
                    UPDATE \(table.quoted) AS kept SET
                        last_writer = txid_current(), unclaimed_until = NULL,
                        claim_owner = $2,
                        claim_fence = greatest(kept.claim_fence + 1, txid_current() << \(Self.stepBits)) + $5,
                        claim_since = clock.now, claim_heartbeat = clock.now, claim_expires = clock.now + clock.life,
                        lapsed_owners = CASE WHEN kept.claim_owner IS NULL OR kept.claim_owner = $2
                            THEN kept.lapsed_owners ELSE
                            (kept.lapsed_owners || (kept.claim_owner || '#' || kept.claim_fence))
                                [greatest(1, cardinality(kept.lapsed_owners) - \(Self.listLimit - 2)):] END
                    FROM clock WHERE kept.account = $1 AND (\(Self.isFree)) AND NOT (\(Self.wasWrittenByOthers))
                        AND coalesce(kept.unclaimed_until NOT BETWEEN clock.now AND clock.now + clock.life, true)
                    RETURNING kept.claim_fence, kept.released_fences
                ), made AS (
                    INSERT INTO \(table.quoted) (account, version, last_writer,
                        claim_owner, claim_fence, claim_since, claim_heartbeat, claim_expires)
                    SELECT $1, txid_current(), txid_current(),
                        $2, (txid_current() << \(Self.stepBits)) + $5, clock.now, clock.now, clock.now + clock.life
                    FROM clock WHERE NOT $4 AND NOT EXISTS (SELECT FROM \(table.quoted) WHERE account = $1)
                    ON CONFLICT (account) DO NOTHING RETURNING claim_fence, NULL::bigint[]
                ), unclaimed AS (
                    INSERT INTO \(table.quoted) (account, version, last_writer, unclaimed_until)
                    SELECT $1, txid_current(), txid_current(), clock.now + clock.life
                    FROM clock WHERE $4 AND NOT EXISTS (SELECT FROM \(table.quoted) WHERE account = $1)
                    ON CONFLICT (account) DO NOTHING RETURNING account
                ), claim AS (SELECT * FROM taken UNION ALL SELECT * FROM made)
                SELECT claim.claim_fence, array_to_string(claim.released_fences, ','),
                    coalesce((SELECT $3::bigint FROM held UNION ALL SELECT $3::bigint FROM unclaimed),
                        ceil(extract(epoch FROM greatest(
                            kept.claim_expires, clock.started + (kept.claim_expires - kept.claim_heartbeat),
                            kept.unclaimed_until
                        ) - clock.now) * 1000)::bigint),
                    kept.claim_owner, extract(epoch FROM kept.claim_since)::bigint
                FROM clock LEFT JOIN claim ON true LEFT JOIN \(table.quoted) AS kept ON kept.account = $1
                """,
            values: [
                .text(account), .text(owner), .integer(life.milliseconds), .flag(hasHeldSession),
                .integer(.random(in: 0..<1 << Self.stepBits)),
            ])
    }

    /// Renews the claim, lapsed or not, unless another owner has taken it. A claim that has vanished from the row, or
    /// with the row of a session, and was not released, returns. One row if it was renewed.
    func renew(_ fence: Int64) -> PostgreSQLStatement {
        PostgreSQLStatement(
            text: """
                INSERT INTO \(table.quoted) AS kept (account, version, last_writer,
                    claim_owner, claim_fence, claim_since, claim_heartbeat, claim_expires)
                SELECT $1, txid_current(), txid_current(),
                    $2, $3, clock.now, clock.now, clock.now + $4::bigint * interval '1 millisecond'
                FROM (SELECT clock_timestamp() AS now) AS clock
                WHERE $5 OR EXISTS (SELECT FROM \(table.quoted) WHERE account = $1)
                ON CONFLICT (account) DO UPDATE SET last_writer = txid_current(), claim_owner = $2, claim_fence = $3,
                    claim_heartbeat = excluded.claim_heartbeat, claim_expires = excluded.claim_expires
                WHERE \(Self.isOwn)
                    OR kept.claim_owner IS NULL AND kept.claim_fence <= $3 AND NOT $3 = ANY (kept.released_fences)
                RETURNING claim_fence
                """,
            values: [
                .text(account), .text(owner), .integer(fence), .integer(life.milliseconds), .flag(hasHeldSession),
            ])
    }

    /// Releases the claim, whether another owner has taken it or not, and records its fence among those that were
    /// released last: that alone says that the owner's call has ended (rule 4). So a row without a session stays while
    /// owners of lapsed claims may still call. A row that something else has written, without the claim of another
    /// owner, stays one (``wasWrittenByOthers``). Then notifies the waiters.
    func release(_ fence: Int64) -> [PostgreSQLStatement] {
        let release = PostgreSQLStatement(
            text: """
                UPDATE \(table.quoted) AS kept SET last_writer = txid_current(),
                    unclaimed_until = CASE WHEN kept.claim_fence <> $3 AND \(Self.wasWrittenByOthers)
                        THEN clock_timestamp() + $4::bigint * interval '1 millisecond' ELSE unclaimed_until END,
                    claim_owner = CASE WHEN \(Self.isOwn) THEN NULL ELSE claim_owner END,
                    claim_heartbeat = CASE WHEN \(Self.isOwn) THEN NULL ELSE claim_heartbeat END,
                    claim_expires = CASE WHEN \(Self.isOwn) THEN NULL ELSE claim_expires END,
                    lapsed_owners = array_remove(lapsed_owners, $2 || '#' || $3::text),
                    released_fences = (released_fences || $3)
                        [greatest(1, cardinality(released_fences) - \(Self.listLimit - 2)):]
                WHERE account = $1 AND NOT $3 = ANY (released_fences)
                """,
            values: [.text(account), .text(owner), .integer(fence), .integer(life.milliseconds)])
        let clear = PostgreSQLStatement(
            text: """
                DELETE FROM \(table.quoted)
                WHERE account = $1 AND claim_owner IS NULL AND format_version IS NULL AND lapsed_owners = '{}'
                    AND claim_fence = $2
                """,
            values: [.text(account), .integer(fence)])
        let report = PostgreSQLStatement(
            text: "SELECT pg_notify($1, $2)::text",
            values: [.text(ChangeReport.channel(of: table)), .text(ChangeReport.releasePayload(of: account))])
        return [release, clear, report]
    }

    /// The random bits of a fence. The bits above them have room for 8.8 trillion transactions.
    private static let stepBits: Int64 = 20

    /// The most lapsed claims, and the most released ones, that are kept for an account. An owner that is not in the
    /// list of released ones any more may be alive.
    private static let listLimit = 8

    /// Whether something else than this library has written the row since its last claim, and the row has no whole
    /// claim now. Each statement of this library records its transaction in the row, and the database knows which one
    /// has written it. (A row without a record is taken as its own.)
    static let wasWrittenByOthers = """
        kept.last_writer IS NOT NULL AND kept.xmin::text::bigint <> kept.last_writer & 4294967295
            AND (kept.claim_owner IS NULL OR kept.claim_heartbeat IS NULL OR kept.claim_expires IS NULL)
        """

    /// Whether the claim in the row is this one. Its fence alone may be that of another owner after a failover.
    private static let isOwn = "kept.claim_owner = $2 AND kept.claim_fence = $3"

    private static let isFree = """
        kept.claim_owner IS NULL OR kept.claim_owner = $2
            OR kept.claim_heartbeat IS NULL OR kept.claim_expires IS NULL
            OR kept.claim_heartbeat > clock.now + (kept.claim_expires - kept.claim_heartbeat)
            OR kept.claim_expires <= clock.now AND NOT (
                clock.started <= clock.now
                AND clock.now < clock.started + (kept.claim_expires - kept.claim_heartbeat)
            )
        """
}
#endif
