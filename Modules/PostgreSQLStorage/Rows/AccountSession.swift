#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Storage

/// Reads and changes the session of one account.
///
/// An update is one transaction: it locks the row, decides, writes, and commits. Other processes wait for the lock
/// without a connection; other accounts never wait for it.
struct AccountSession: Sendable {
    let database: PostgreSQLDatabase
    let statements: SessionStatements
    let seal: SessionSeal

    /// The process, before the name of a request in its claims.
    let claimant: String
    let writers: LeaseQueue

    /// The last version of the row that this store has read or written. Zero: there was no row.
    let seen = Locked<Int64?>(nil)

    /// Whether this store has read or written a session, and has not removed it since.
    let hasHeldSession = Locked(false)

    /// The decision of an update. It is made once: after a lost connection the same write is repeated.
    private struct Decision: Sendable {
        /// The version of the row on which it is based; `nil` if there was none.
        let basis: Int64?

        /// What to store; `nil` to remove what is stored.
        let next: SealedSession?

        /// Whether a refresh is pending in `next`.
        let isPending: Bool

        /// The version that the write has given the row. The row has it if the commit was made.
        var written: Int64?
    }

    func read() async throws -> StoredSession {
        let statement = statements.read(isLocking: false)
        let row = try await database.attempt { deadline in
            try await database.pool.transaction(for: .reading, until: deadline) { open throws(PostgreSQLFailure) in
                SessionRow(try open.execute(statement))
            }
        }
        noteContent(of: row)
        seen.withLock { $0 = row?.version ?? 0 }
        return try await open(row).get()
    }

    private func noteContent(of row: SessionRow?) { if row?.content != nil { hasHeldSession.withLock { $0 = true } } }

    /// Runs an update to its end, even when the task is cancelled (G7).
    func update(_ change: @escaping StoreChange) async throws {
        try await Task { try await updateToItsEnd(change) }.value
    }

    private func updateToItsEnd(_ change: @escaping StoreChange) async throws {
        let deadline = database.clock.uptime + database.limits.call
        let ticket: LeaseQueue.Ticket
        do {
            ticket = try await writers.take(waitingAtMost: database.limits.call)
        } catch let error as TokenStoreError {
            throw TokenStoreError(error.code, reason: "waited for earlier updates of the account in this process")
        }
        defer { writers.release(ticket) }
        let decision = Locked<Decision?>(nil)
        let isChanged = try await database.attempt(until: deadline, isDecided: { decision.withLock { $0 != nil } }) {
            deadline in
            try await database.pool.withConnection(for: .writing, until: deadline) { connection in
                try await apply(change, decision, over: connection)
            }
        }
        guard isChanged, let decided = decision.withLock({ $0 }), let version = decided.written else { return }
        seen.withLock { $0 = version }
        hasHeldSession.withLock { $0 = decided.next != nil }
        database.changes.reportOwnChange(of: statements.account, version: version)
    }

    /// Returns whether the row was changed.
    private func apply(
        _ change: StoreChange, _ decision: Locked<Decision?>, over connection: PooledConnection
    ) async throws -> Bool {
        let row = try await lockRow(connection)
        noteContent(of: row)
        do {
            if let decided = decision.withLock({ $0 }) {
                guard row?.version == decided.basis else {
                    await rollBack(connection)
                    if let written = decided.written, row?.version == written { return true }
                    if decided.next == nil, row == nil { return true }
                    throw TokenStoreError(.unavailable, reason: "the connection to the database was lost in an update")
                }
            } else {
                let found = try await open(row)
                guard let next = change(found) else {
                    await rollBack(connection)
                    return false
                }
                try checkClaim(of: next.bundle?.refreshIntent, in: row)
                let sealed = try await seal.seal(next)
                let isPending = next.bundle?.refreshIntent != nil
                decision.withLock { $0 = Decision(basis: row?.version, next: sealed, isPending: isPending) }
            }
            try await write(decision, over: connection)
            return true
        } catch {
            await rollBack(connection)
            throw error
        }
    }

    /// Rule 4: a call is recorded only under the claim that it names. Without it, another process may be calling. A
    /// mark says that a call was recorded before.
    private func checkClaim(of intent: RefreshIntent?, in row: SessionRow?) throws {
        guard let intent, !intent.isAbandoned, intent.failure == nil, let fence = intent.lease.flatMap({ Int64($0) })
        else { return }
        if let claim = row?.claim, claim.fence == fence, claim.owner.hasPrefix(claimant) { return }
        throw TokenStoreError(
            .unavailable,
            reason:
                "the claim to the lease is no longer in the account's row: another process has taken it, or the row "
                + "was restored or edited")
    }

    /// Starts a transaction and locks the account's row. A missing row is inserted.
    private func lockRow(_ connection: PooledConnection) async throws -> SessionRow? {
        let (read, make) = (statements.read(isLocking: true), statements.make)
        return try await connection.run { open throws(PostgreSQLFailure) in
            try open.begin()
            do throws(PostgreSQLFailure) {
                if let row = SessionRow(try open.execute(read)) { return row }
                // Another process has just inserted the row: the same as a locked row.
                if try open.execute(make).isEmpty { throw PostgreSQLFailure(kind: .refused(sqlState: "55P03")) }
                return nil
            } catch {
                open.rollBack()
                throw error
            }
        }
    }

    private func write(_ decision: Locked<Decision?>, over connection: PooledConnection) async throws {
        guard let decided = decision.withLock({ $0 }) else { return }
        let life = database.limits.claim
        let statement =
            decided.next.map { statements.write($0, keepsLapsed: decided.isPending, claimLife: life) }
            ?? statements.remove
        try await connection.continueRun { open throws(PostgreSQLFailure) in
            let version = try open.execute(statement).integer(0)
            decision.withLock { $0?.written = version }
            try open.commit()
        }
    }

    private func rollBack(_ connection: PooledConnection) async {
        try? await connection.continueRun { open throws(PostgreSQLFailure) in open.rollBack() }
    }

    private func open(_ row: SessionRow?) async throws -> Result<StoredSession, TokenStoreError> {
        if let excess = row?.excess {
            return .failure(TokenStoreError(.corrupt, reason: "the row has \(excess) bytes, too many for a session"))
        }
        return try await seal.open(row?.content)
    }
}
#endif
