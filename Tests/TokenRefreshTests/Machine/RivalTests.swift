import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// Rule 4: the call of another process, its window, and a process that was stopped meanwhile.
@Suite struct RivalTests {
    /// An attempt that has read ada's first tokens, with the intent of another process that may be calling since `age`
    /// seconds. The server tolerates a repetition, whose intent is being stored.
    private func repeating(after age: TimeInterval, within window: Duration) -> MachineScript {
        var script = MachineScript.signedIn(isShared: true, tolerance: .within(window))
        _ = script.pass(.seconds(115))
        let stored = TokenBundle.stored("ada", 0).with(refreshIntent: script.rivalIntent(age: age))
        _ = script.refused(1, generation: 0)
        #expect(script.leased(reading: stored, ownerMayCall: true) == ["mark ada g0"])
        return script
    }

    @Test func `Rule 4: a repetition that was cancelled at the limit of the first call is not replayed`() {
        var script = repeating(after: 110, within: .seconds(600))
        #expect(script.wrote() == ["call g0"])
        #expect(script.pass(.seconds(10)) == ["cancel call"])
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable", "release"])
    }

    @Test func `Rule 4: no repetition is made when its intent was stored after the window of the first call`() {
        var early = repeating(after: 5, within: .seconds(8))
        #expect(early.pass(.seconds(2)) == [])
        #expect(early.wrote() == ["call g0"])
        var late = repeating(after: 5, within: .seconds(8))
        #expect(late.pass(.seconds(4)) == [])
        #expect(late.wrote() == ["1: refreshUnavailable", "release"])
    }

    @Test func `Rule 4: a process that was stopped while its intent was being stored makes no call after its limit`() {
        var script = MachineScript.recording()
        // No timer has fired yet.
        script.uptime += .seconds(31)
        #expect(script.wrote() == ["save ada g0", "1: refreshUnavailable"])
        #expect(script.wrote() == ["release"])
    }

    @Test func `Rule 4: an intent of this process over the intent of another one leaves that one to be waited for`() {
        var script = repeating(after: 5, within: .seconds(10))
        #expect(script.wrote() == ["call g0"])
        let own = script.lastContent?.bundle ?? .stored("ada", 0)
        #expect(script.respond(.unavailable, after: .seconds(6)) == ["1: refreshUnavailable", "release"])
        #expect(script.refresh(2, after: .seconds(60)) == ["lease"])
        #expect(script.leased(reading: own) == ["2: refreshUnavailable", "release"], "the first call may be under way")
        #expect(script.refresh(3, after: .seconds(60), reading: own) == ["call g0"])
    }

    @Test func `Rule 4: a call of this process with newer tokens does not wait for another process's earlier call`() {
        var script = MachineScript.signedIn(isShared: true)
        let stored = TokenBundle.stored("ada", 0).with(refreshIntent: script.rivalIntent())
        _ = script.refused(1, generation: 0)
        #expect(script.leased(reading: stored, ownerMayCall: true) == ["1: refreshUnavailable", "release"])
        _ = script.changed(to: .active(.stored("ada", 1)))
        #expect(script.refresh(2, reading: .stored("ada", 1)) == ["call g1"])
        let own = script.lastContent?.bundle ?? .stored("ada", 1)
        #expect(script.respond(.unavailable) == ["2: refreshUnavailable", "release"])
        #expect(script.refresh(3, after: .seconds(2), reading: own) == ["call g1"])
    }

    @Test func `G25, G32: a step-up ends where the write before it finds that of another process`() {
        var script = MachineScript.known(isShared: true)
        _ = script.refresh(2, reading: .stored("ada", 0))
        #expect(script.respond() == ["save ada g1"])
        _ = script.stepUp(3)
        let other = TokenBundle.stored("ada", 2, accessToken: "access-other", refreshToken: "refresh-ada-0")
        _ = script.wrote(.superseded(by: .active(other)))
        _ = script.wrote()
        #expect(script.ask(4) == ["4: ada g3"])
        #expect(script.machine.isIdle)
    }

    @Test func `Rule 4: the intent of older tokens, as of a backup, says nothing about the tokens in use`() {
        var script = MachineScript.refreshedOnce(isShared: true)
        #expect(script.refresh(1, after: .seconds(60)) == ["lease"])
        _ = script.leased()
        let older = TokenBundle.stored("ada", 0).with(refreshIntent: script.rivalIntent(age: 5))
        #expect(script.reread(older, ownerMayCall: true) == ["call g1"])
        #expect(script.key != "key-1")
    }
}
