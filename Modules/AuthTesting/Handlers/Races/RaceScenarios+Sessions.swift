import AuthInterface

/// Sessions that end, and sessions that follow.
extension RaceScenario {
    static let endings = [oneEnding]
    static let sessions = [logoutMeanwhile, loginMeanwhile, rejectionOfThePast, requestOfThePast]

    /// The server says no to the refresh token. Every waiter hears of it; the user, once.
    public static let oneEnding = RaceScenario("G5", "a dead session ends once, however many requests wait") { trial in
        let old = try await trial.signIn()
        let gate = trial.gate()
        trial.scene.handler.enqueue(.held(at: gate, then: .failure(TokenRefreshError.rejected)))
        let callers = try await trial.refuse(old, times: 100)
        trial.at("waiting for the handler to be called")
        await trial.scene.handler.calls(atLeast: 1)
        await trial.settle()
        gate.open()
        try await trial.expectFailure(of: callers, because: "although the refresh token was refused")
        for caller in try await trial.refuse(old, times: 5) + trial.ask(times: 5) { _ = await caller.result }
        try trial.expectCalls(1)
        guard let endings = try await trial.subject().endings else { return }
        trial.at("waiting for the user to be told that the session is over")
        try await trial.until { await endings() > 0 }
        await trial.settle()
        let count = await endings()
        try expect(count == 1, otherwise: "the user was told \(count) times that the session is over")
    }

    /// The tokens of the user who left come back.
    public static let logoutMeanwhile = RaceScenario("G9", "a logout during a refresh holds") { trial in
        let old = try await trial.signIn()
        let (callers, gate) = try await trial.startRefresh(of: old, ending: .rotate)
        trial.at("signing out while the refresh is under way")
        try await trial.subject().signOut()
        gate.open()
        try await trial.expectFailure(of: callers, because: "although the user had signed out")
        await trial.settle()
        for caller in try await trial.ask() {
            if case .success = await caller.result { throw RuleBroken("the user who left is signed in again") }
        }
        let stored = trial.scene.store.base.bundle
        try expect(stored == nil, otherwise: "the store holds the tokens of the user who left")
    }

    /// The second user's session is overwritten by the first one's refresh.
    public static let loginMeanwhile = RaceScenario("G9", "a login during a refresh is not overwritten by its answer") {
        trial in
        let old = try await trial.signIn("ada")
        let (callers, gate) = try await trial.startRefresh(of: old, ending: .rotate)
        let new = try await trial.signIn("bob")
        gate.open()
        try await trial.expectFailure(of: callers, because: "although another user had signed in")
        await trial.settle()
        try await trial.expectToken(new, "after the first user's refresh")
        let stored = trial.scene.store.base.bundle?.accessToken
        try expect(stored == new, otherwise: "the store does not hold the second user's tokens")
    }

    /// The second user is signed out because the first one's session is dead.
    public static let rejectionOfThePast = RaceScenario("G9", "a rejection of the last session does not end the next") {
        trial in
        let old = try await trial.signIn("ada")
        let (callers, gate) = try await trial.startRefresh(of: old, ending: .failure(TokenRefreshError.rejected))
        let new = try await trial.signIn("bob")
        gate.open()
        for caller in callers { _ = await caller.result }
        await trial.settle()
        try await trial.expectToken(new, "after the first user's refresh was rejected")
    }

    /// The first user's order is placed as the second.
    public static let requestOfThePast = RaceScenario("G23", "a request is never sent again as another user") { trial in
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

extension RaceTrial {
    /// Starts ten refused requests, whose refresh is held at a gate.
    fileprivate func startRefresh(
        of token: String,
        ending answer: ScriptedRefreshHandler.Response
    ) async throws -> (callers: [Caller], gate: Gate) {
        let gate = gate()
        scene.handler.enqueue(.held(at: gate, then: answer))
        let callers = try await refuse(token, times: 10)
        at("waiting for the handler to be called")
        await scene.handler.calls(atLeast: 1)
        await settle()
        return (callers, gate)
    }
}
