#if PostgreSQL
/// The columns of a row for the session.
struct SessionRow: Sendable {
    let version: Int64

    /// `nil`: the row holds no session.
    let content: SealedSession?

    /// The size of the content in bytes, if it is over the limit.
    let excess: Int64?

    /// The fence of the claim to the lease, and its owner; `nil` without one.
    let claim: (fence: Int64, owner: String)?

    /// Returns `nil` when the account has no row.
    init?(_ rows: PostgreSQLRows) {
        guard let version = rows.integer(0) else { return nil }
        self.version = version
        let stored: SealedSession.Content? =
            if let tombstone = rows.value(5) {
                .tombstone(tombstone)
            } else {
                rows.value(4).map {
                    .tokens(session: rows.text(2) ?? "", generation: rows.integer(3) ?? -1, ciphertext: $0)
                }
            }
        content = rows.integer(1).flatMap { format in stored.map { SealedSession(format: format, content: $0) } }
        excess = content == nil ? rows.integer(6) : nil
        claim = if let fence = rows.integer(7), let owner = rows.text(8) { (fence, owner) } else { nil }
    }
}
#endif
