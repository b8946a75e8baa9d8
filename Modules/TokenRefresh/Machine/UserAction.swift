import AuthInterface

/// What the server demands of the user before it issues tokens again (G32).
///
/// It ends nothing. It is over when new tokens are in use, of this process or another one; a failure of another kind
/// says nothing about it. The server is asked once more after a pause that doubles, since an administrator may have
/// changed what is demanded.
struct UserAction: Hashable, Sendable {
    let challenge: StepUpChallenge
    /// How many demands in a row there have been. More than these make no pause longer.
    private let count: Int
    private static let mostDemands = 64

    /// A demand of the server. One that does not say what it wants wants a page.
    init(_ error: TokenRefreshError, after earlier: UserAction?) {
        challenge = error.stepUp ?? StepUpChallenge(.interaction)
        count = min((earlier?.count ?? 0) + 1, Self.mostDemands)
    }

    /// The demand that another process, or an earlier run of this one, has received. `nil`: there was none.
    init?(_ failure: RefreshIntent.Failure) {
        guard let challenge = failure.stepUp else { return nil }
        self.challenge = challenge
        count = failure.isAmbiguous ? 1 : min(max(failure.count ?? 1, 1), Self.mostDemands)
    }

    /// The pause before the next refresh.
    func pause(_ policy: TokenRefreshPolicy) -> Duration {
        let limit = max(policy.maximumUserActionPause, .zero)
        var pause = min(policy.userActionCooldown, limit)
        for _ in 1..<count where pause < limit { pause = min(pause * 2, limit) }
        return pause
    }

    /// Stores the demand in the intent that other processes find.
    func fill(_ failure: inout RefreshIntent.Failure) {
        failure.stepUp = challenge
        if !failure.isAmbiguous { failure.count = count }
    }

    /// The error of a caller that needs a new token, after a refresh has failed. A failure of the store is its own.
    func error(after error: TokenRefreshError) -> TokenRefreshError {
        guard error.stepUp == nil, !(error.cause is TokenStoreError) else { return error }
        return TokenRefreshError(
            .userActionRequired, reason: error.reason, status: error.status, serverCode: error.serverCode,
            requestID: error.requestID, stepUp: challenge, cause: error)
    }
}
