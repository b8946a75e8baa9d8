import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G32: what the server demands of the user at the token endpoint ends nothing, and is said.
@Suite struct UserActionTests {
    private let challenge = StepUpChallenge(.interaction, claims: #"{"a":1}"#, suberror: "basic_action")

    private func demand(_ challenge: StepUpChallenge?, retryAfter: Duration? = nil) -> TokenRefreshError {
        TokenRefreshError(
            .userActionRequired, retryAfter: retryAfter, status: 400, serverCode: "invalid_grant", stepUp: challenge)
    }

    /// A session that has got a demand. Caller 1 waited for the refresh.
    private func demanded(isShared: Bool = false, _ error: TokenRefreshError? = nil) -> MachineScript {
        var script = MachineScript.calling(isShared: isShared)
        script.recordsIntents = false
        #expect(script.respond(error ?? demand(challenge)) == ["1: stepUpRequired", "failed ada g0"])
        #expect(script.wrote() == (isShared ? ["release"] : []))
        script.recordsIntents = true
        return script
    }

    private func events(_ script: MachineScript) -> [StepUpChallenge] {
        script.events.compactMap { if case .userActionRequired(_, let challenge) = $0 { challenge } else { nil } }
    }

    @Test(arguments: [false, true])
    func `session and tokens stay, and the challenge is shown, reported and stored`(isShared: Bool) throws {
        let script = demanded(isShared: isShared)
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "ada")))
        #expect(script.machine.current?.bundle.refreshToken == "refresh-ada-0")
        #expect(script.machine.status.userAction == challenge && events(script) == [challenge])
        #expect(script.machine.status.lastFailure?.code == .userActionRequired)
        let failure = try #require(script.lastContent?.bundle?.refreshIntent?.failure)
        #expect(failure.stepUp == challenge && failure.pause == .seconds(30) && !failure.isAmbiguous)
    }

    @Test func `a handler's demand without a status or a challenge is stored, and wants a page`() throws {
        let script = demanded(TokenRefreshError(.userActionRequired))
        #expect(script.machine.status.userAction == StepUpChallenge(.interaction))
        #expect(script.lastContent?.bundle?.refreshIntent?.failure?.stepUp == StepUpChallenge(.interaction))
    }

    @Test func `a valid token goes on, and what needs a new one fails without a call until the pause is over`() {
        var script = demanded()
        #expect(script.ask(2) == ["2: ada g0"], "the token of an hour")
        #expect(script.refresh(3) == ["3: stepUpRequired"])
        #expect(script.refused(4, generation: 0) == ["4: stepUpRequired"])
        _ = script.pass(.seconds(27))
        #expect(script.refresh(5) == ["5: stepUpRequired"])
        _ = script.pass(.seconds(3))
        #expect(script.refresh(6) == ["call g0"])
    }

    @Test func `the pause doubles up to ten minutes, a server's own is longer, and a challenge is reported once`() {
        var script = demanded()
        for pause in [30, 60, 120, 240, 480, 600, 600] as [Int64] {
            #expect(script.machine.pauseEnd(at: script.uptime) == script.uptime + .seconds(pause), "\(pause)")
            _ = script.pass(.seconds(pause))
            #expect(script.refresh(2) == ["call g0"])
            _ = script.respond(demand(challenge))
            _ = script.wrote()
        }
        #expect(events(script) == [challenge])
        _ = script.pass(.seconds(600))
        _ = script.refresh(3)
        _ = script.respond(demand(StepUpChallenge(.scope, scope: "a"), retryAfter: .seconds(250)))
        #expect(events(script) == [challenge, StepUpChallenge(.scope, scope: "a")])
        let first = demanded(demand(nil, retryAfter: .seconds(250)))
        #expect(first.machine.pauseEnd(at: first.uptime) == first.uptime + .seconds(250))
    }

    @Test func `another failure says nothing of the demand, and a failure of the store is its own`() {
        var script = demanded()
        _ = script.pass(.seconds(30))
        script.recordsIntents = false
        #expect(script.refresh(2) == ["intent ada g0"])
        #expect(script.storeFails() == ["2: storeUnavailable"])
        #expect(script.machine.status.userAction == challenge)
        _ = script.pass(.seconds(60))
        script.recordsIntents = true
        #expect(script.refresh(3) == ["call g0"])
        script.recordsIntents = false
        let busy = TokenRefreshError(.unavailable, status: 503)
        #expect(script.respond(busy) == ["3: stepUpRequired", "failed ada g0"])
        #expect(script.lastContent?.bundle?.refreshIntent?.failure?.stepUp == challenge)
        #expect(script.machine.status.userAction == challenge && script.machine.status.lastFailure?.status == 503)
    }

    @Test func `it breaks a sequence of ambiguous refusals`() {
        var script = MachineScript.calling(isShared: false)
        _ = script.respond(TokenRefreshError(.ambiguous, status: 401))
        _ = script.wrote()
        _ = script.pass(.seconds(30))
        _ = script.refresh(2)
        _ = script.respond(demand(challenge))
        _ = script.wrote()
        _ = script.pass(.seconds(30))
        _ = script.refresh(3)
        #expect(script.respond(TokenRefreshError(.ambiguous, status: 401)).contains("3: stepUpRequired"))
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "ada")))
    }

    // MARK: Its end

    @Test func `it ends by a refresh that succeeds, and by a sign-in`() {
        var refreshed = demanded()
        _ = refreshed.pass(.seconds(30))
        _ = refreshed.refresh(2)
        #expect(refreshed.finish().contains("2: signed in ada"))
        #expect(refreshed.machine.status.userAction == nil)
        var signedIn = demanded()
        _ = signedIn.signIn(2, as: "bob")
        _ = signedIn.wrote()
        #expect(signedIn.machine.status.userAction == nil)
    }

    @Test func `it ends by a step-up, and with it the pause`() {
        let ada = TokenSubject(issuer: "https://issuer.example", id: "ada")
        func tokens(_ name: String) -> TokenRefreshResult {
            TokenRefreshResult(
                accessToken: "access-\(name)", refreshToken: "refresh-\(name)", expiresIn: .seconds(3_600), subject: ada
            )
        }
        var script = MachineScript()
        let id = SessionID(rawValue: "ada")
        _ = script.send(.signIn(tokens("ada-0"), id, WaiterID(number: 1)))
        _ = script.wrote()
        _ = script.refresh(2)
        _ = script.respond(demand(challenge))
        _ = script.wrote()
        #expect(
            script.send(.stepUp(tokens("high"), SessionID(rawValue: "new"), WaiterID(number: 3))) == ["save ada g1"])
        _ = script.wrote()
        #expect(script.machine.status.userAction == nil && script.machine.status.lastFailure == nil)
        #expect(script.refresh(4) == ["call g1"])
    }

    @Test func `it ends by a newer bundle of another process`() {
        var script = demanded(isShared: true)
        #expect(script.changed(to: .active(.stored("ada", 1))) == [])
        #expect(script.machine.status.userAction == nil && script.ask(2) == ["2: ada g1"])
    }

    @Test func `an invalid_grant without a sign ends the session`() {
        var script = demanded()
        _ = script.pass(.seconds(30))
        _ = script.refresh(2)
        _ = script.respond(.rejected)
        _ = script.reread(.stored("ada", 0))
        #expect(script.wrote().contains("signedOut expired"))
    }

    // MARK: Other processes

    @Test(arguments: [false, true])
    func `a process that starts shows the stored challenge, and calls only after the pause`(isShared: Bool) {
        for (ago, isPaused) in [(400, true), (590, true), (601, false), (-86_400, true)] as [(TimeInterval, Bool)] {
            var script = MachineScript(isShared: isShared)
            _ = script.send(.requested(.restore, WaiterID(number: 1)))
            var failure = RefreshIntent.Failure(date: script.date - ago, pause: .seconds(600), status: 400)
            failure.stepUp = challenge
            failure.count = 6
            let intent = RefreshIntent(
                idempotencyKey: "key", owner: ProcessIdentity(host: "host", process: "p2"), date: script.date - ago,
                failure: failure)
            _ = script.loaded(.success(.active(.stored("ada", 0).with(refreshIntent: intent))))
            #expect(script.machine.status.userAction == challenge && events(script) == [challenge])
            let expected = isPaused ? ["2: stepUpRequired"] : isShared ? ["lease"] : ["call g0"]
            #expect(script.refresh(2) == expected, "\(ago)")
        }
    }

    @Test func `a stored count that cannot be makes a pause of ten minutes, and is not counted out`() {
        var script = MachineScript()
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        var failure = RefreshIntent.Failure(date: script.date - 601, pause: .seconds(600), status: 400)
        (failure.stepUp, failure.count) = (challenge, .max)
        let intent = RefreshIntent(
            idempotencyKey: "key", owner: ProcessIdentity(host: "host", process: "p2"), date: failure.date,
            failure: failure)
        _ = script.loaded(.success(.active(.stored("ada", 0).with(refreshIntent: intent))))
        #expect(script.refresh(2) == ["call g0"])
        _ = script.respond(demand(challenge))
        #expect(script.lastContent?.bundle?.refreshIntent?.failure?.pause == .seconds(600))
    }

    // MARK: Tokens that no request can carry

    @Test func `DI3: a second refresh token in a row that brings no access token is the last for a while`() {
        var script = MachineScript.refreshing()
        var result = TokenRefreshResult(accessToken: "", refreshToken: "refresh-1")
        result.accessTokenProblem = "members token, refreshToken"
        _ = script.respond(result)
        #expect(script.wrote() == ["1: refreshUnavailable"])
        #expect(script.machine.status.lastFailure?.reason?.contains("members token, refreshToken") == true)
        _ = script.pass(.seconds(5))
        #expect(script.refresh(2) == ["call g1"])
        _ = script.respond(TokenRefreshResult(accessToken: "", refreshToken: "refresh-2"))
        _ = script.wrote()
        _ = script.pass(.seconds(27))
        #expect(script.refresh(3) == ["3: refreshUnavailable"])
        _ = script.pass(.seconds(3))
        #expect(script.refresh(4) == ["call g2"])
    }
}
