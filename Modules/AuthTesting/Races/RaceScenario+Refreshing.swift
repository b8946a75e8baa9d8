import AuthInterface
import ContractTesting

/// One refresh for all callers, cancelled or not.
extension RaceScenario {
    static let refreshing = [
        singleFlight, expiredTogether, lateRefusal, loopBreaker, hungRefresh, starterCancelled, allCancelled,
    ]

    /// An actor that awaits without storing its task is re-entered by every caller.
    package static let singleFlight = RaceScenario("G1", "1,000 refusals at once cause one refresh") { trial in
        let (callers, gate) = try await trial.holdRefresh(of: trial.signIn(), times: 1_000)
        gate.open()
        try await trial.expectOneCall(for: callers, toGet: RaceTrial.refreshed)
    }

    /// As ``singleFlight``, when the clock shows the expiry before the server does.
    package static let expiredTogether = RaceScenario("G1", "1,000 requests with an expired token cause one refresh") {
        trial in
        _ = try await trial.signIn()
        trial.scene.clock.advance(by: .seconds(86_400))
        let (callers, gate) = try await trial.holdRefresh(of: nil, times: 1_000)
        gate.open()
        try await trial.expectOneCall(for: callers, toGet: RaceTrial.refreshed)
    }

    /// Request B was sent with the old token, and is refused after the refresh of request A.
    package static let lateRefusal = RaceScenario(
        "G2", "a refusal that arrives after the refresh causes no second refresh"
    ) { trial in
        let old = try await trial.signIn()
        for _ in 0..<20 { try await trial.expectAll(trial.refuse(old), toGet: RaceTrial.refreshed) }
        try await trial.expectAll(trial.refuse(old, times: 20), toGet: RaceTrial.refreshed)
        try trial.expectCalls(1)
    }

    /// A server that refuses a token it has just issued refuses the next one too.
    package static let loopBreaker = RaceScenario("G10", "a fresh token that is refused causes no loop of refreshes") {
        trial in
        let old = try await trial.signIn()
        try await trial.expectAll(trial.refuse(old), toGet: RaceTrial.refreshed)
        for count in [1, 1, 1, 1, 1, 20] {
            for caller in try await trial.refuse(RaceTrial.refreshed, times: count) { _ = await caller.result }
        }
        try trial.expectCalls(1)
        try await trial.expectNoEnding("when a fresh token was refused")
    }

    /// A refresh without a response must not hang the app, and a late response holds the only valid refresh token.
    package static let hungRefresh = RaceScenario("G8", "a hung refresh fails its waiters; its late response is kept") {
        trial in
        let (callers, gate) = try await trial.holdRefresh(of: trial.signIn()) { .rotateThenHold(at: $0) }
        // On a busy machine a caller may come late, and wait from then on. The call itself has not lasted two minutes.
        for seconds in [60, 50] where trial.returned < callers.count {
            trial.scene.clock.advance(by: .seconds(seconds))
            for _ in 0..<10 { await trial.settle() }
        }
        try await trial.expectFailure(of: callers, because: "although no response had arrived")
        try await trial.expectNoEnding("while no response had arrived")
        gate.open()
        trial.at("waiting for the late response to be used")
        let subject = try await trial.subject()
        try await trial.until { (try? await subject.token()) == RaceTrial.refreshed }
        try trial.expectCalls(1)
    }

    /// The view that started the refresh has disappeared.
    package static let starterCancelled = RaceScenario(
        "G7", "a cancellation of the caller that started the refresh fails no other caller"
    ) { trial in
        let old = try await trial.signIn()
        let (starter, gate) = try await trial.holdRefresh(of: old, times: 1) { .rotateThenHold(at: $0) }
        let others = try await trial.refuse(old, times: 100)
        await trial.settle()
        for caller in starter { caller.cancel() }
        trial.at("waiting for the cancelled caller to return during the refresh")
        for caller in starter { _ = await caller.result }
        gate.open()
        try await trial.expectAll(others, toGet: RaceTrial.refreshed)
        try trial.expectCalls(1)
    }

    /// The server has rotated. If the result is dropped, the session is lost.
    package static let allCancelled = RaceScenario("G7", "when all callers are cancelled, the new tokens are kept") {
        trial in
        let old = try await trial.signIn()
        let (callers, gate) = try await trial.holdRefresh(of: old) { .rotateThenHold(at: $0) }
        for caller in callers { caller.cancel() }
        trial.at("waiting for the cancelled callers to return")
        for caller in callers { _ = await caller.result }
        gate.open()
        try await trial.expectAll(trial.refuse(old), toGet: RaceTrial.refreshed)
        try trial.expectCalls(1)
    }
}
