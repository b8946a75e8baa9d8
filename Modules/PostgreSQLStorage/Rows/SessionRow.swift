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
        let format = rows.integer(1)
        let size = rows.integer(6)
        if let format, let tombstone = rows.value(5) {
            content = SealedSession(format: format, content: .tombstone(tombstone))
        } else if let format, let ciphertext = rows.value(4) {
            content = SealedSession(
                format: format,
                content: .tokens(session: rows.text(2) ?? "", generation: rows.integer(3) ?? -1, ciphertext: ciphertext)
            )
        } else {
            content = nil
        }
        excess = content == nil ? size : nil
        claim = if let fence = rows.integer(7), let owner = rows.text(8) { (fence, owner) } else { nil }
    }
}
#endif
