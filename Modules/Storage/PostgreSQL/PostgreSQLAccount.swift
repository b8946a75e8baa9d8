#if PostgreSQL
import AuthInterface

/// The row of one account: what ``PostgreSQLTokenStore`` and its leases have in common.
struct PostgreSQLAccount: Sendable {
    let database: PostgreSQLDatabase
    let statements: AccountStatements
    let seal: BundleSeal

    init(_ account: String, in database: PostgreSQLDatabase, cipher: any TokenCipher) {
        self.database = database
        statements = AccountStatements(table: database.table, account: account)
        seal = BundleSeal(account: account, cipher: cipher)
    }

    func load(under fence: LeaseFence = .none) async throws -> TokenBundle? {
        guard let row = try await readRow(under: fence) else { return nil }
        return try await seal.open(row)
    }

    /// Stores a bundle, if the row may be replaced by it.
    ///
    /// The database compares session and generation in the statement that writes. When it declines, the row is looked
    /// at to say why; a row that has changed in between is another reason to try.
    func save(_ bundle: TokenBundle, under fence: LeaseFence = .none) async throws {
        let sealed = try await seal.seal(bundle)
        for _ in 1...3 {
            let answer = try await run(statements.save(sealed, under: fence))
            if answer.flag(1) { return }
            guard let row = try await readRow(under: fence) else { continue }
            if try await isSaved(bundle, over: row) { return }
        }
        throw TokenStoreError(.busy, reason: "others keep changing the row; try again later")
    }

    func delete(under fence: LeaseFence = .none) async throws {
        try await run(statements.delete(under: fence))
    }

    /// Says why a row was not replaced.
    ///
    /// - Returns: Whether the row has the bundle's own tokens. `false`: it may be replaced by now.
    /// - Throws: ``TokenStoreError``, otherwise.
    private func isSaved(_ bundle: TokenBundle, over row: SealedBundle) async throws -> Bool {
        guard row.version <= SealedBundle.currentVersion else { throw TokenStoreError.newer(row.version) }
        guard row.session == bundle.session.rawValue, row.generation >= bundle.generation else { return false }
        if row.generation > bundle.generation {
            // What the later bundle is does not matter, so that it need not be opened.
            let later = TokenBundle(
                accessToken: "",
                refreshToken: nil,
                session: bundle.session,
                generation: Int(clamping: row.generation)
            )
            try bundle.checkMayReplace(later)
            return false
        }
        try bundle.checkMayReplace(try await seal.open(row))
        return true
    }

    private func readRow(under fence: LeaseFence) async throws -> SealedBundle? {
        let answer = try await run(statements.load(under: fence, atMost: SealedBundle.sizeLimit))
        guard let version = answer.integer(1), let generation = answer.integer(2), let session = answer.text(3) else {
            return nil
        }
        guard version <= SealedBundle.currentVersion else { throw TokenStoreError.newer(version) }
        guard let ciphertext = answer.value(5) else {
            throw TokenStoreError(.corrupt, reason: "the row has \(answer.integer(4) ?? 0) bytes, which are no tokens")
        }
        return SealedBundle(version: version, generation: generation, session: session, ciphertext: ciphertext)
    }

    /// Runs a statement in a transaction of its own.
    ///
    /// - Throws: ``TokenStoreError`` with code `leaseLost` when it was made under a lease that is over; `unavailable`.
    @discardableResult
    private func run(_ statement: PostgreSQLStatement) async throws(TokenStoreError) -> PostgreSQLAnswer {
        let answer = try await database.desk.run { connection throws(PostgreSQLFailure) in
            try connection.transaction { connection throws(PostgreSQLFailure) in try connection.execute(statement) }
        }
        guard answer.flag(0) else { throw .leaseLost }
        return answer
    }
}
#endif
