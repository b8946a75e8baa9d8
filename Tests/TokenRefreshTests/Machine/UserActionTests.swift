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
        #expect(script.state == "signed in ada")
        #expect(script.machine.current?.bundle.refreshToken == "refresh-ada-0")
        #expect(script.machine.status.userAction == challenge && events(script) == [challenge])
        #expect(script.machine.status.lastFailure?.code == .userActionRequired)
        let failure = try #require(script.lastIntent?.failure)
        #expect(failure.stepUp == challenge && failure.pause == .seconds(30) && !failure.isAmbiguous)
        // A handler's demand without a status or a challenge wants a page.
        let bare = demanded(TokenRefreshError(.userActionRequired))
        #expect(bare.machine.status.userAction == StepUpChallenge(.interaction))
        #expect(bare.lastIntent?.failure?.stepUp == StepUpChallenge(.interaction))
    }

    @Test func `a valid token goes on, and what needs a new one fails without a call until the pause is over`() {
        var script = demanded()
        #expect(script.ask(2) == ["2: ada g0"], "the token of an hour")
        #expect(script.refresh(3) == ["3: stepUpRequired"])
        #expect(script.refused(4, generation: 0) == ["4: stepUpRequired"])
        #expect(script.refresh(5, after: .seconds(27)) == ["5: stepUpRequired"])
        #expect(script.refresh(6, after: .seconds(3)) == ["call g0"])
    }

    @Test func `the pause doubles up to ten minutes, a server's own is longer, and a challenge is reported once`() {
        var script = demanded()
        for pause in [30, 60, 120, 240, 480, 600, 600] as [Int64] {
            #expect(script.machine.pauseEnd(at: script.uptime) == script.uptime + .seconds(pause), "\(pause)")
            #expect(script.refresh(2, after: .seconds(pause)) == ["call g0"])
            _ = script.respond(demand(challenge), isStored: true)
        }
        #expect(events(script) == [challenge])
        _ = script.refresh(3, after: .seconds(600))
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
        #expect(script.lastIntent?.failure?.stepUp == challenge)
        #expect(script.machine.status.userAction == challenge && script.machine.status.lastFailure?.status == 503)
    }

    @Test func `it ends by a refresh, a sign-in, a step-up, and newer tokens of another process`() {
        var refreshed = demanded()
        var signedIn = refreshed
        _ = refreshed.refresh(2, after: .seconds(30))
        var rejected = refreshed
        #expect(refreshed.finish().contains("2: signed in ada"))
        #expect(refreshed.machine.status.userAction == nil)
        _ = rejected.rejected()
        #expect(rejected.wrote().contains("signedOut expired"), "an invalid_grant without a sign ends the session")
        _ = signedIn.signIn(2, as: "bob", isStored: true)
        #expect(signedIn.machine.status.userAction == nil)
        var steppedUp = MachineScript.known()
        _ = steppedUp.refresh(2)
        _ = steppedUp.respond(demand(challenge), isStored: true)
        #expect(steppedUp.stepUp(3, isStored: true).first == "save ada g1")
        #expect(steppedUp.machine.status.userAction == nil && steppedUp.machine.status.lastFailure == nil)
        #expect(steppedUp.refresh(4) == ["call g1"], "with it the pause ends")
        var adopting = demanded(isShared: true)
        #expect(adopting.changed(to: .active(.stored("ada", 1))) == [])
        #expect(adopting.machine.status.userAction == nil && adopting.ask(2) == ["2: ada g1"])
    }

    @Test(arguments: [false, true])
    func `a process that starts shows the stored challenge, and calls only after the pause`(isShared: Bool) {
        for (ago, isPaused) in [(400, true), (590, true), (601, false), (-86_400, true)] as [(TimeInterval, Bool)] {
            let stored = TokenBundle.failed(.seconds(600), ago, status: 400, count: 6, stepUp: challenge)
            var script = MachineScript.started(isShared: isShared, with: stored)
            #expect(script.machine.status.userAction == challenge && events(script) == [challenge])
            let expected = isPaused ? ["2: stepUpRequired"] : isShared ? ["lease"] : ["call g0"]
            #expect(script.refresh(2) == expected, "\(ago)")
        }
        // A count that cannot be makes a pause of ten minutes, and is not counted out.
        let stored = TokenBundle.failed(.seconds(600), 601, status: 400, count: .max, stepUp: challenge)
        var script = MachineScript.started(with: stored)
        #expect(script.refresh(2) == ["call g0"])
        _ = script.respond(demand(challenge))
        #expect(script.lastIntent?.failure?.pause == .seconds(600))
    }

    @Test func `DI3: a second refresh token in a row that brings no access token is the last for a while`() {
        var script = MachineScript.refreshing()
        var result = TokenRefreshResult(accessToken: "", refreshToken: "refresh-1")
        result.accessTokenProblem = "members token, refreshToken"
        _ = script.respond(result)
        #expect(script.wrote() == ["1: refreshUnavailable"])
        #expect(script.machine.status.lastFailure?.reason?.contains("members token, refreshToken") == true)
        #expect(script.refresh(2, after: .seconds(5)) == ["call g1"])
        _ = script.respond(TokenRefreshResult(accessToken: "", refreshToken: "refresh-2"), isStored: true)
        #expect(script.refresh(3, after: .seconds(27)) == ["3: refreshUnavailable"])
        #expect(script.refresh(4, after: .seconds(3)) == ["call g2"])
    }
}
