import AuthInterface
import ContractTesting

/// Sessions that end, and the sessions after them.
extension RaceScenario {
    static let sessions = [
        oneEnding, logoutMeanwhile, loginMeanwhile, rejectionOfEarlierSession, requestOfEarlierSession,
    ]

    /// The server rejects the refresh token. Every waiter fails, and the user is notified once.
    package static let oneEnding = RaceScenario(
        "G5", "a rejected session ends once, with any number of waiting requests"
    ) { trial in
        let old = try await trial.signIn()
        let (callers, gate) = try await trial.holdRefresh(of: old, times: 100) {
            .held(at: $0, then: .failure(TokenRefreshError.rejected))
        }
        gate.open()
        try await trial.expectFailure(of: callers, because: "although the refresh token was rejected")
        for caller in try await trial.refuse(old, times: 5) + trial.request(times: 5) { _ = await caller.result }
        try trial.expectCalls(1)
        guard let endings = try await trial.subject().endings else { return }
        trial.at("waiting for the notification that the session has ended")
        try await trial.until { await endings() > 0 }
        await trial.settle()
        let count = await endings()
        try expect(count == 1, otherwise: "the user was notified \(count) times that the session has ended")
    }

    /// Tokens of a signed-out user return.
    package static let logoutMeanwhile = RaceScenario("G9", "a logout during a refresh is final") { trial in
        let (callers, gate) = try await trial.holdRefresh(of: trial.signIn())
        trial.at("signing out during the refresh")
        try await trial.subject().signOut()
        gate.open()
        try await trial.expectFailure(of: callers, because: "although the user had signed out")
        await trial.settle()
        for caller in try await trial.request() {
            if case .success = await caller.result { throw RuleBroken("the signed-out user is signed in again") }
        }
        let stored = trial.scene.store.base.bundle
        try expect(stored == nil, otherwise: "the store holds tokens of the signed-out user")
    }

    /// The first user's refresh overwrites the second user's session.
    package static let loginMeanwhile = RaceScenario("G9", "the result of a refresh does not overwrite a later login") {
        trial in
        let (callers, gate) = try await trial.holdRefresh(of: trial.signIn("ada"))
        let new = try await trial.signIn("bob")
        gate.open()
        try await trial.expectFailure(of: callers, because: "although another user had signed in")
        await trial.settle()
        try await trial.expectToken(new, "after the first user's refresh")
        try await trial.expectNoEnding("after the first user's refresh")
        let stored = trial.scene.store.base.bundle?.accessToken
        try expect(stored == new, otherwise: "the store does not hold the second user's tokens")
    }

    /// The second user is signed out because the first user's session was rejected.
    package static let rejectionOfEarlierSession = RaceScenario(
        "G9", "a rejection of one session does not end the next"
    ) { trial in
        let (callers, gate) = try await trial.holdRefresh(of: trial.signIn("ada")) {
            .held(at: $0, then: .failure(TokenRefreshError.rejected))
        }
        let new = try await trial.signIn("bob")
        gate.open()
        for caller in callers { _ = await caller.result }
        await trial.settle()
        try await trial.expectToken(new, "after the first user's refresh was rejected")
        try await trial.expectNoEnding("after the first user's refresh was rejected")
    }

    /// The first user's order is placed as the second user's.
    package static let requestOfEarlierSession = RaceScenario("G23", "a request is never sent again as another user") {
        trial in
        let old = try await trial.signIn("ada")
        trial.at("signing out")
        try await trial.subject().signOut()
        let new = try await trial.signIn("bob")
        let callers = try await trial.refuse(old, times: 10)
        try await trial.expectFailure(of: callers, because: "although the request was another user's")
        try trial.expectCalls(0)
        try await trial.expectToken(new, "after the first user's requests")
    }
}
