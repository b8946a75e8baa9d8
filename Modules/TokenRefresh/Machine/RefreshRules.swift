import AuthInterface

/// The rules that keep users signed in, each in one place with the race it answers.
///
/// The machine asks these before it acts. They are values, so that the tests can take one away and show that the
/// simulator, or a table, notices: a rule whose absence nobody notices is not proven.
struct RefreshRules: Sendable {
    /// G1. Two requests fail together; the second finds a refresh on its way. It joins it.
    var joinsRefreshInFlight = true

    /// G2. Request B was sent with the old token and is refused after A's refresh is done. The refusal says nothing
    /// about the current token. Refreshing again would spend the new refresh token for nothing, and a server that
    /// rotates may take it for a theft. The same when the token of another process has taken the place of ours.
    var isLate: @Sendable (_ refused: SessionToken, _ current: TokenBundle) -> Bool = { refused, current in
        refused.generation < current.generation
            || (refused.generation == current.generation && refused.value != current.accessToken)
    }

    /// G23. A request that began as one user must not be sent again as another.
    var belongs: @Sendable (_ refused: SessionToken, _ current: TokenBundle) -> Bool = { refused, current in
        refused.session == current.session
    }

    /// G4. Only the authorisation server's own no ends a session.
    var endsSession: @Sendable (_ verdict: TokenRefreshError) -> Bool = { $0.code == .rejected }

    /// G6. A server in trouble gets one refresh and then a pause, not one refresh for each waiter.
    var coolsDown = true

    /// G8. A refresh that hangs must not hang the app.
    var hasDeadline = true

    /// G9. While a refresh was on its way the user signed out, or somebody else signed in. Its answer, good or bad, is
    /// about a session that is over: applying it would bring back the tokens of the user who left, or sign out the
    /// user who came.
    var mayCommit: @Sendable (_ base: TokenBundle, _ current: TokenBundle?) -> Bool = { base, current in
        base.session == current?.session && base.generation == current?.generation
    }

    /// G10. A server that refuses a token it has just issued will refuse the next one too.
    var breaksLoops = true

    /// G11. A token that only memory knows is lost at the next launch, and with a server that rotates the session with
    /// it. So tokens are stored first and used then.
    var storesBeforeUse = true

    /// G12. The answer to a refresh was lost. The server may have rotated, or may never have been asked. The refresh
    /// token is tried again: what comes back says which.
    var keepsTokenAfterLostAnswer = true

    /// G13. While this process waited for the lease, another may have refreshed. Freshness is looked at again.
    var rereadsUnderLease = true

    /// G13. The refresh token was refused because another process has spent it: its bundle is in the store.
    var rereadsAfterRejection = true

    /// G14. A store that cannot say is not a store that holds nothing.
    var toleratesUnavailableStore = true
}
