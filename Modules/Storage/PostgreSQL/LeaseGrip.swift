#if PostgreSQL
public import AuthInterface

extension TokenStoreError.Code {
    /// The lease ended before its holder let go of it: its connection was lost, or its time was up. Nothing was read
    /// or written. Others may have had the store since: take another lease and load again.
    public static let leaseLost = Self(rawValue: "leaseLost")
}

extension TokenStoreError {
    static let leaseLost = TokenStoreError(
        .leaseLost,
        reason: "the lease ended before its holder let go of it; take another and load the store again"
    )
}

/// What a holder has in its hands: a lock, and a claim.
///
/// **The lock** is an advisory lock of the database, bound to a transaction. The server lets go of it when the
/// transaction ends: when the holder ends it, when the holder dies and the system closes its connection, when
/// keep-alives find that its host is gone, and when `idle_in_transaction_session_timeout` is over. Unlike a lock of the
/// session it also works behind a pooler that lends a server connection to one transaction at a time. Waiting for it
/// is asking again: a waiter that is cut off can then never be handed what it cannot use.
///
/// **The claim** is for the one thing that undoes every lock at once while their holders live: a restart of the
/// database server, or a standby that takes its place. A holder whose refresh is under way at that instant has spent
/// the refresh token that is stored; whoever took the lock next would spend it again and have the whole session
/// revoked. So the holder's name is in the row itself. It means nothing while the server that wrote it runs, for there
/// the lock is the better witness; after a restart it keeps everybody but the holder from the lease, until the holder
/// has saved or its time (`PostgreSQLLimits.recovery`) is up.
struct LeaseGrip: Sendable {
    let fence: LeaseFence

    private let database: PostgreSQLDatabase
    private let statements: AccountStatements
    private let link: PostgreSQLLink

    /// Takes the lease, if it is to be had now.
    ///
    /// - Returns: `nil` if somebody else has it, or has a claim to it.
    /// - Throws: ``TokenStoreError`` with code `unavailable`.
    static func take(
        _ statements: AccountStatements,
        in database: PostgreSQLDatabase
    ) async throws(TokenStoreError) -> LeaseGrip? {
        let link = database.takeLink()
        guard let fence = try await lock(statements, link, limits: database.limits) else {
            database.giveBack(link)
            return nil
        }
        let grip = LeaseGrip(fence: fence, database: database, statements: statements, link: link)
        do {
            if try await grip.claim() { return grip }
        } catch {
            await grip.drop()
            throw error
        }
        await grip.drop()
        return nil
    }

    /// Lets go of the lock and the claim, in one transaction.
    ///
    /// A lock that is lost already takes no claim with it: its holder may have something to save yet.
    func letGo() async {
        let unclaim = statements.unclaim(by: database.holder)
        try? await link.continueRun { connection throws(PostgreSQLFailure) in
            do throws(PostgreSQLFailure) {
                try connection.execute(unclaim)
                try connection.commit()
            } catch {
                connection.rollBack()
                throw error
            }
        }
        database.giveBack(link)
    }

    private static func lock(
        _ statements: AccountStatements,
        _ link: PostgreSQLLink,
        limits: PostgreSQLLimits
    ) async throws(TokenStoreError) -> LeaseFence? {
        let lock = statements.lock(limits: limits)
        return try await link.run { connection throws(PostgreSQLFailure) in
            try connection.begin()
            do throws(PostgreSQLFailure) {
                if try connection.execute(lock).flag(0) {
                    let identity = try connection.execute(AccountStatements.identity)
                    if let process = identity.integer(0), let transaction = identity.text(1) {
                        return LeaseFence(process: process, transaction: transaction)
                    }
                }
            } catch {
                connection.rollBack()
                throw error
            }
            connection.rollBack()
            return nil
        }
    }

    /// Writes the claim. It is a transaction of its own: the one with the lock is not committed before the end.
    private func claim() async throws(TokenStoreError) -> Bool {
        let claim = statements.claim(by: database.holder, under: fence, limits: database.limits)
        let answer = try await database.desk.run { connection throws(PostgreSQLFailure) in
            try connection.transaction { connection throws(PostgreSQLFailure) in try connection.execute(claim) }
        }
        let (isHeld, isRowThere, isClaimed) = (answer.flag(0), answer.flag(1), answer.flag(2))
        return isHeld && (isClaimed || !isRowThere)
    }

    private func drop() async {
        try? await link.continueRun { connection throws(PostgreSQLFailure) in connection.rollBack() }
        database.giveBack(link)
    }
}
#endif
