import AuthInterface
import ContractTesting

/// Failing servers and stores.
extension RaceScenario {
    static let failures = [
        failureShared, pauseAfterFailure, tooManyRequests, storedFirst, storeFails, storeCannotSay,
    ]

    private struct Status: Error { let code: Int }

    /// A failing server gets one refresh for each waiter, one after the other.
    package static let failureShared = RaceScenario("G6", "all waiters share one failure, and the session stays") {
        trial in
        let old = try await trial.signIn()
        // A long pause: on a busy machine some callers are late. They must fail with the pause, and not wait for a
        // short one on a clock that stands still.
        let failure = TokenRefreshError(.unavailable, retryAfter: .seconds(60), cause: Status(code: 503))
        let (callers, gate) = try await trial.holdRefresh(of: old, times: 100) {
            .held(at: $0, then: .failure(failure))
        }
        gate.open()
        try await trial.expectFailure(of: callers, because: "although the server was unavailable")
        try trial.expectCalls(1)
        try await trial.expectNoEnding("when the server was unavailable")
        try await trial.expectRecovery(from: old)
    }

    /// Every refused request calls the failing server again, at once.
    package static let pauseAfterFailure = RaceScenario("G6", "after a failed refresh, the next one waits") { trial in
        var old = try await trial.signIn()
        let unavailable: [TokenRefreshError] = [
            .init(.unavailable, status: 503), .init(.unavailable, retryAfter: .seconds(60), status: 429),
        ]
        for (round, failure) in unavailable.enumerated() {
            trial.scene.handler.add(.failure(failure))
            try await trial.expectFailure(of: trial.refuse(old), because: "although the server was unavailable")
            let calls = trial.calls
            let early = try await trial.refuse(old, times: 10)
            trial.at("waiting while the clock stands still after a failed refresh")
            for _ in 0..<10 { await trial.settle() }
            try trial.expectCalls(calls)
            try await trial.expectNoEnding("during the pause after a failed refresh")
            let new = try await trial.expectRecovery(from: old, ordinal: round + 1)
            trial.at("waiting for callers that were refused during the pause")
            for caller in early { _ = await caller.result }
            try trial.expectCalls(calls + 1)
            // A token that was just refreshed is no reason for a refresh (G10).
            trial.scene.clock.advance(by: .seconds(3_600))
            old = new
        }
    }

    /// Any 4xx counts as a rejection.
    package static let tooManyRequests = RaceScenario("G4", "only a rejection ends the session") { trial in
        let old = try await trial.signIn()
        let failures: [any Error] = [
            Status(code: 429), Status(code: 408), TokenRefreshError(.unavailable, retryAfter: .seconds(5)),
            TokenRefreshError(.init(rawValue: "unheardOf")), CancellationError(),
        ]
        for failure in failures {
            trial.scene.handler.add(.failure(failure))
            let callers = try await trial.refuse(old)
            try await trial.expectFailure(of: callers, because: "although the refresh had failed")
            try await trial.expectNoEnding("after \(failure)")
            trial.scene.clock.advance(by: .seconds(3_600))
        }
        try await trial.expectRecovery(from: old)
    }

    /// A token that is only in memory is lost at the next launch.
    package static let storedFirst = RaceScenario("G11", "new tokens are stored before a request uses them") { trial in
        let old = try await trial.signIn()
        let gate = trial.gate()
        let saves = trial.scene.store.calls(.save)
        trial.scene.store.hold(.save, at: gate)
        let callers = try await trial.refuse(old, times: 10)
        trial.at("waiting for the new tokens to be saved")
        try await gate.arrivals(atLeast: 1)
        await trial.settle()
        let early = trial.returned
        try expect(early == 0, otherwise: "\(early) callers got the new token before it was stored")
        gate.open()
        try await trial.expectAll(callers, toGet: RaceTrial.refreshed)
        try expect(trial.scene.store.calls(.save) == saves + 1, otherwise: "the new tokens were saved more than once")
    }

    /// A new refresh token is dropped when its save fails.
    package static let storeFails = RaceScenario("G11", "tokens that cannot be stored are used, and stored later") {
        trial in
        let old = try await trial.signIn()
        trial.scene.store.fail(.save)
        try await trial.expectAll(trial.refuse(old, times: 10), toGet: RaceTrial.refreshed)
        try await trial.expectToken(RaceTrial.refreshed, "when the save had failed")
        trial.scene.store.recover(.save)
        trial.at("waiting for the tokens to be saved again")
        try await trial.untilInTime { trial.scene.store.base.bundle?.accessToken == RaceTrial.refreshed }
        try trial.expectCalls(1)
    }

    /// A store's read error counts as *no session*.
    package static let storeCannotSay = RaceScenario("G14", "an unavailable store does not end the session") { trial in
        let stored = TokenBundle.fixture()
        await trial.scene.store.base.save(stored)
        trial.scene.store.fail(.load)
        trial.at("requesting a token while the store cannot be read")
        let callers = try await trial.request(times: 10)
        try await trial.expectFailure(of: callers, because: "although the store could not be read")
        try await trial.expectNoEnding("when the store could not be read")
        let left = trial.scene.store.base.bundle
        try expect(left == stored, otherwise: "the stored session was removed because it could not be read")
        trial.scene.store.recover(.load)
        trial.at("waiting for the stored session to be found")
        let subject = try await trial.subject()
        try await trial.untilInTime { (try? await subject.token()) == stored.accessToken }
        try trial.expectCalls(0)
    }
}

extension RaceTrial {
    /// After a pause, the next refusal leads to a new token.
    @discardableResult
    fileprivate func expectRecovery(from old: String, ordinal: Int = 1) async throws -> String {
        scene.clock.advance(by: .seconds(3_600))
        let new = TokenRefreshResult.fixture(ordinal: ordinal).accessToken
        try await expectAll(refuse(old), toGet: new)
        try expect(scene.server.reuses == 0, otherwise: "a used refresh token was used again")
        return new
    }
}
