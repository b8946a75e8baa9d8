import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// Events that come after the state has changed for which they were meant.
@Suite struct LateEventTests {
    /// A machine that holds the lease, whose refreshed tokens are being stored again while the next attempt starts.
    private func recordingBehindSave() -> MachineScript {
        var script = MachineScript.unsaved()
        #expect(script.pass(.seconds(1)) == ["save ada g1"])
        script.recordsIntents = false
        #expect(script.refresh(2) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == [], "the intent waits for the save")
        return script
    }

    @Test func `G27: the write of an earlier version, stored or refused, is not that of the intent that follows`() {
        var script = recordingBehindSave()
        var refused = script
        #expect(script.wrote() == ["intent ada g1"])
        #expect(script.wrote() == ["call g1"])
        #expect(refused.wrote(.superseded(by: .active(.stored("ada", 0)))) == ["intent ada g1"])
    }

    private let busy = TokenRefreshError(.unavailable, status: 503)

    @Test func `Rule 7: a failure is not stored once the lease is lost, nor over a mark, and keeps no lease`() throws {
        var script = MachineScript.calling()
        script.recordsIntents = false
        var marked = script
        _ = script.send(.leaseLost(try #require(script.call?.id)))
        #expect(script.respond(busy) == ["1: refreshUnavailable", "release"])
        #expect(marked.send(.suspensionNear) == ["mark ada g0"])
        #expect(marked.respond(busy) == ["1: refreshUnavailable"], "the intent is being marked")
        #expect(marked.wrote() == ["release"])
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

    @Test func `Rule 7: the failure of another process does not shorten a pause`() {
        var script = MachineScript.calling()
        _ = script.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(60), status: 503))
        _ = script.changed(to: .active(.failed(.seconds(5), at: script.date, status: 503)))
        #expect(script.refresh(2, after: .seconds(10)) == ["2: refreshUnavailable"])
    }

    @Test func `A check says nothing while tokens wait to be stored: their write finds what the store holds`() {
        var script = MachineScript.unsaved()
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
        #expect(script.respond(busy) == ["1: refreshUnavailable", "failed ada g0"])
        #expect(script.lastIntent?.firstDate == (isReplay ? date : nil))
    }

    // MARK: What another process has stored

    /// A machine that has restored a session with the failure of another process, and calls for it.
    private func calling(after failed: TokenBundle) -> MachineScript {
        var script = MachineScript(isShared: true)
        _ = script.start(with: failed)
        #expect(script.refused(2, generation: 0, reading: failed) == ["call g0"])
        return script
    }

    @Test func `Rule 7: the rest of another process's pause is waited for, and not a new one`() {
        var script = MachineScript.refreshing(isShared: true)
        let failed = TokenBundle.failed(.seconds(5), 4.75, at: script.date, status: 503)
        #expect(script.leased(reading: failed) == ["1: refreshUnavailable", "release"])
        #expect(script.refresh(2, after: .milliseconds(300)) == ["lease"])
    }

    @Test func `G19: a call that the server has refused has not brought the tokens of the next one`() {
        var script = calling(after: .failed(.seconds(5), 600, at: MachineScript.start, status: 503))
        #expect(script.respond() == ["save ada g1"])
        _ = script.wrote()
        #expect(script.machine.current?.expiry.end == script.uptime + .seconds(3_600))
    }

    @Test func `G4: a refusal that another process has received a moment ago does not confirm this one's`() {
        let failed = TokenBundle.failed(.seconds(1), 2, at: MachineScript.start, isAmbiguous: true, status: 401)
        var script = calling(after: failed)
        #expect(script.respond(TokenRefreshError(.ambiguous, status: 401)).contains("2: refreshUnavailable"))
    }
}
