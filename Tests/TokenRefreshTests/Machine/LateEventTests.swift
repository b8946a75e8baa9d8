import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// Events that come after the state has changed for which they were meant.
@Suite struct LateEventTests {
    /// A machine whose refreshed tokens could not be stored.
    private func failedSave() -> MachineScript {
        var script = MachineScript.calling()
        _ = script.respond()
        _ = script.storeFails()
        return script
    }

    /// A machine that holds the lease, whose refreshed tokens are being stored again while the next attempt starts.
    private func recordingBehindSave() -> MachineScript {
        var script = failedSave()
        #expect(script.pass(.seconds(1)) == ["save ada g1"])
        script.recordsIntents = false
        #expect(script.refresh(2) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == [], "the intent waits for the save")
        return script
    }

    @Test func `G27: the write of an earlier version is not that of the intent`() {
        var script = recordingBehindSave()
        #expect(script.wrote() == ["intent ada g1"])
        #expect(script.wrote() == ["call g1"])
    }

    @Test func `An earlier write that is refused leaves the intent that follows it`() {
        var script = recordingBehindSave()
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 0)))) == ["intent ada g1"])
    }

    @Test func `Rule 7: a failure is not stored once the lease is lost`() throws {
        var script = MachineScript.calling()
        _ = script.send(.leaseLost(try #require(script.call?.id)))
        script.recordsIntents = false
        let busy = TokenRefreshError(.unavailable, status: 503)
        #expect(script.respond(busy) == ["1: refreshUnavailable", "release"])
    }

    @Test func `G28: no replay is made after a suspension was announced`() {
        var script = MachineScript.calling(tolerance: .sameKey)
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable"])
        #expect(script.wrote() == ["release"])
    }

    @Test func `G10: an adopted token is as old as its refresh by the other process`() {
        var script = MachineScript.signedIn(isShared: true)
        let adopted = TokenBundle.stored("ada", 1, receivedAt: script.date - 8)
        _ = script.changed(to: .active(adopted))
        #expect(script.refused(1, generation: 1) == ["lease"])
        #expect(script.leaseFailed() == ["1: refreshUnavailable"])
        _ = script.pass(.seconds(3))
        #expect(script.refused(2, generation: 1) == ["lease"], "it is 11 seconds old, and not just refreshed")
    }

    @Test func `Rule 7: a failure that comes while its intent is being marked does not keep the lease`() {
        var script = MachineScript.calling()
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        script.recordsIntents = false
        #expect(script.respond(TokenRefreshError(.unavailable, status: 503)) == ["1: refreshUnavailable"])
        #expect(script.wrote() == ["release"])
    }

    @Test func `Rule 7: the failure of another process does not shorten a pause`() {
        var script = MachineScript.calling()
        _ = script.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(60), status: 503))
        let other = RefreshIntent(
            idempotencyKey: "other", owner: ProcessIdentity(host: "host", process: "p2"), date: script.date,
            failure: .init(date: script.date, pause: .seconds(5), status: 503))
        _ = script.changed(to: .active(TokenBundle.stored("ada", 0).with(refreshIntent: other)))
        _ = script.pass(.seconds(10))
        #expect(script.refresh(2) == ["2: refreshUnavailable"])
    }

    @Test func `A check says nothing while tokens wait to be stored: their write finds what the store holds`() {
        var script = failedSave()
        #expect(script.changed(to: .active(.stored("bob", 0))) == [])
        #expect(script.pass(.seconds(1)) == ["save ada g1"])
    }

    @Test(arguments: [false, true])
    func `G19: the failure of a replay does not hide the call whose response was lost`(isReplay: Bool) {
        var script = MachineScript.calling(tolerance: .sameKey)
        let date = script.date
        _ = script.pass(.seconds(2))
        if isReplay { #expect(script.respond(.unavailable) == ["call g0"]) }
        script.recordsIntents = false
        let busy = TokenRefreshError(.unavailable, status: 503)
        #expect(script.respond(busy) == ["1: refreshUnavailable", "failed ada g0"])
        #expect(script.lastContent?.bundle?.refreshIntent?.firstDate == (isReplay ? date : nil))
    }

    // MARK: What another process has stored

    /// A stored session with the intent of another process whose call has failed this long ago.
    private func failed(_ script: MachineScript, _ seconds: TimeInterval, pause: Duration, status: Int, ambiguous: Bool)
        -> TokenBundle
    {
        let failure = RefreshIntent.Failure(
            date: script.date - seconds, pause: pause, isAmbiguous: ambiguous, status: status)
        let intent = RefreshIntent(
            idempotencyKey: "other", owner: ProcessIdentity(host: "host", process: "p2"), date: script.date - seconds,
            failure: failure)
        return TokenBundle.stored("ada", 0).with(refreshIntent: intent)
    }

    /// A machine that has restored such a session, and calls for it.
    private func calling(after seconds: TimeInterval, pause: Duration, status: Int, ambiguous: Bool = false)
        -> MachineScript
    {
        var script = MachineScript(isShared: true)
        let bundle = failed(script, seconds, pause: pause, status: status, ambiguous: ambiguous)
        _ = script.ask(1)
        _ = script.loaded(.success(.active(bundle)))
        #expect(script.refused(2, generation: 0) == ["lease"])
        #expect(script.leased(reading: bundle) == ["call g0"])
        return script
    }

    @Test func `Rule 7: the rest of another process's pause is waited for, and not a new one`() {
        var script = MachineScript.refreshing(isShared: true)
        _ = script.leased()
        let bundle = failed(script, 4.75, pause: .seconds(5), status: 503, ambiguous: false)
        #expect(script.reread(bundle) == ["1: refreshUnavailable", "release"])
        _ = script.pass(.milliseconds(300))
        #expect(script.refresh(2) == ["lease"])
    }

    @Test func `G19: a call that the server has refused has not brought the tokens of the next one`() {
        var script = calling(after: 600, pause: .seconds(5), status: 503)
        #expect(script.respond() == ["save ada g1"])
        _ = script.wrote()
        #expect(script.machine.current?.expiry.end == script.uptime + .seconds(3_600))
    }

    @Test func `G4: a refusal that another process has received a moment ago does not confirm this one's`() {
        var script = calling(after: 2, pause: .seconds(1), status: 401, ambiguous: true)
        #expect(script.respond(TokenRefreshError(.ambiguous, status: 401)).contains("2: refreshUnavailable"))
    }
}
