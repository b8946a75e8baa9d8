import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G28, rules 4 and 9: until when a call may start, and what becomes of one of which no byte was written.
@Suite struct CallStartTests {
    @Test(arguments: [
        (ReplayTolerance.none, 30), (.sameKey, 30), (.within(.seconds(10)), 10), (.within(.seconds(90)), 30),
    ])
    func `A call starts within the deadline of its intent, and within the tolerance of the server`(
        tolerance: ReplayTolerance, seconds: Int
    ) {
        var script = MachineScript.recording(tolerance: tolerance)
        let recorded = script.uptime
        script.uptime += .seconds(4)
        #expect(script.wrote() == ["call g0"])
        #expect(script.lastStart == recorded + .seconds(seconds))
    }

    @Test func `A replay has the limits of the lost call, and leaves its intent if it is not made`() {
        var script = MachineScript.calling(tolerance: .sameKey)
        let (start, made) = (script.lastStart, script.uptime)
        var late = script
        #expect(script.respond(.unavailable, after: .seconds(20)) == ["call g0"])
        #expect(script.lastStart == start)
        #expect(script.timers.contains { $0.value <= made + .seconds(120) && $0.key == .callLimit(script.call!.id) })
        #expect(script.notMade() == ["1: refreshUnavailable", "release"])
        // No timer has fired yet.
        late.uptime = late.lastStart
        #expect(late.respond(.unavailable) == ["1: refreshUnavailable", "release"], "none after the last start")
    }

    @Test func `A call that was not made leaves the store as it was, and the next one has its key`() {
        var script = MachineScript.calling(tolerance: .sameKey)
        let key = script.key
        var late = script
        #expect(script.notMade() == ["save ada g0", "1: refreshUnavailable"], "not a lost response: no replay")
        #expect(script.lastIntent == nil)
        #expect(script.wrote() == ["release"])
        #expect(script.refresh(2, after: .seconds(2), reading: .stored("ada", 0)) == ["call g0"])
        #expect(script.key == key)
        #expect(late.pass(.seconds(30)) == ["1: refreshUnavailable"])
        #expect(late.notMade() == ["save ada g0"], "also after its deadline")
        #expect(late.wrote() == ["release"])
    }

    @Test func `A call that was not made is no first call, and the intent of one before it counts again`() {
        var script = MachineScript.calling(isShared: false)
        let lost = script.lastIntent
        var second = script
        _ = script.notMade()
        _ = script.wrote()
        #expect(script.refresh(2, after: .seconds(60)) == ["call g0"])
        #expect(script.respond(lifetime: .seconds(100), isStored: true) == ["save ada g1", "2: signed in ada"])
        #expect(script.machine.current?.bundle.receivedAt == script.date)
        #expect(second.respond(.unavailable) == ["1: refreshUnavailable"])
        #expect(second.refresh(2, after: .seconds(60)) == ["call g0"])
        second.recordsIntents = false
        #expect(second.notMade() == ["intent ada g0", "2: refreshUnavailable"])
        #expect(second.lastIntent?.idempotencyKey == lost?.idempotencyKey && second.lastIntent?.date == lost?.date)
    }

    @Test func `What a call that is not made has replaced counts again, and its mark is removed`() throws {
        var script = MachineScript.refreshing(isShared: true, tolerance: .sameKey)
        let stored = script.recordedByRival(200)
        #expect(script.leased(reading: stored) == ["call g0"])
        script.recordsIntents = false
        #expect(script.notMade() == ["intent ada g0", "1: refreshUnavailable"])
        #expect(script.lastIntent == stored.refreshIntent)

        var suspended = MachineScript.suspended()
        let marked = try #require(suspended.lastContent?.bundle)
        #expect(suspended.notMade() == ["save ada g0", "1: refreshUnavailable"])
        #expect(suspended.replaces(marked) && !suspended.replaces(marked.with(refreshIntent: nil)))
    }

    @Test func `No call starts once a suspension was announced`() {
        var script = MachineScript.calling()
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        let mark = script.lastWrite
        #expect(script.respond() == [])
        #expect(script.pass(.seconds(30)) == ["1: ada g1"], "the store is slow")
        #expect(script.wrote(version: mark) == ["save ada g1"])
        // The lease stays for this write, and the next attempt finds it held.
        #expect(script.refused(2, generation: 1) == ["reread"])
        let save = script.lastWrite
        script.recordsIntents = false
        #expect(script.reread(.stored("ada", 1)) == [])
        #expect(script.wrote(version: save) == ["intent ada g1"])
        #expect(script.wrote() == ["save ada g1", "2: refreshUnavailable"])
        #expect(script.wrote() == ["release"])
    }

    @Test func `A session that ends withdraws its call`() throws {
        var script = MachineScript.calling()
        let call = try #require(script.call?.id)
        _ = script.signOut(2)
        #expect(script.withdrawn == [call])
        var failing = script
        #expect(script.notMade() == [])
        _ = failing.storeFails()
        #expect(failing.notMade().contains("release"), "of an ended session that was not made")
    }

    // MARK: The call of another process

    /// An attempt that has read ada's first tokens, with the intent of another process that may be calling since `age`
    /// seconds. The server tolerates a repetition, whose intent is being stored.
    private func repeating(after age: TimeInterval, within window: Duration) -> MachineScript {
        var script = MachineScript.signedIn(isShared: true, tolerance: .within(window))
        _ = script.pass(.seconds(115))
        _ = script.refused(1, generation: 0)
        #expect(script.leased(reading: script.recordedByRival(age), ownerMayCall: true) == ["mark ada g0"])
        return script
    }

    @Test func `Rule 4: a repetition starts within the window of the call that it repeats, or is not made`() {
        var script = repeating(after: 5, within: .seconds(8))
        let end = script.uptime + .seconds(3)
        #expect(script.pass(.seconds(2)) == [])
        var late = script
        #expect(script.wrote() == ["call g0"])
        #expect(script.lastStart == end)
        #expect(late.pass(.seconds(2)) == [])
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
        let stored = script.recordedByRival()
        _ = script.refused(1, generation: 0)
        #expect(script.leased(reading: stored, ownerMayCall: true) == ["1: refreshUnavailable", "release"])
        _ = script.changed(to: .active(.stored("ada", 1)))
        #expect(script.refresh(2, reading: .stored("ada", 1)) == ["call g1"])
        let own = script.lastContent?.bundle ?? .stored("ada", 1)
        #expect(script.respond(.unavailable) == ["2: refreshUnavailable", "release"])
        #expect(script.refresh(3, after: .seconds(2), reading: own) == ["call g1"])
    }

    @Test func `Rule 4: the intent of older tokens, as of a backup, says nothing about the tokens in use`() {
        var script = MachineScript.refreshedOnce(isShared: true)
        #expect(script.refresh(1, after: .seconds(60)) == ["lease"])
        #expect(script.leased(reading: script.recordedByRival(5), ownerMayCall: true) == ["call g1"])
        #expect(script.key != "key-1")
    }
}
