import AuthInterface

extension TokenBundle {
    /// The last line against a holder who has outlived its lease, or never had one (G13).
    ///
    /// Such a holder comes with the answer to a refresh that somebody else has made in the meantime: a bundle of the
    /// same session whose generation is stored already, with other tokens, or has been overtaken. Its refresh token
    /// is spent; stored, it would end the session at the next refresh. The same tokens may be stored as often as one
    /// likes, and another session always may be: a sign-in is the user's wish.
    func checkMayReplace(_ stored: TokenBundle?) throws(TokenStoreError) {
        guard let stored, stored.session == session else { return }
        let isSame =
            stored.generation == generation && stored.accessToken == accessToken
            && stored.refreshToken == refreshToken
        guard generation > stored.generation || isSame else {
            throw TokenStoreError(
                .superseded,
                reason: "generation \(stored.generation) of session \(session) is stored already, so generation "
                    + "\(generation) was not saved; load the store again"
            )
        }
    }
}

extension TokenStoreError {
    static let busy = TokenStoreError(
        .busy,
        reason: "another holder has the store and did not let go in time; try again later"
    )

    static let released = TokenStoreError(
        .unavailable,
        reason: "this lease of the store was released; take another"
    )
}
