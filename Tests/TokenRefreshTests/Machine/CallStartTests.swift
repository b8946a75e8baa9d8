import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G28, rule 9: until when a call may start, and what becomes of one of which no byte was written.
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

    @Test func `A repetition starts within the window of the call that it repeats`() {
        var script = MachineScript.signedIn(isShared: true, tolerance: .within(.seconds(20)))
        _ = script.refused(1, generation: 0, after: .seconds(60))
        let stored = TokenBundle.stored("ada", 0).with(refreshIntent: script.rivalIntent(age: 5))
        #expect(script.leased(reading: stored, ownerMayCall: true) == ["mark ada g0"])
        let seen = script.uptime
        #expect(script.wrote() == ["call g0"])
        #expect(script.lastStart == seen + .seconds(15))
    }

    @Test func `A replay has the limits of the call whose response was lost`() {
        var script = MachineScript.calling(tolerance: .sameKey)
        let (start, made) = (script.lastStart, script.uptime)
        #expect(script.respond(.unavailable, after: .seconds(20)) == ["call g0"])
        #expect(script.lastStart == start)
        #expect(script.timers.contains { $0.value <= made + .seconds(120) && $0.key == .callLimit(script.call!.id) })
    }

    @Test func `No replay is made after the last start`() {
        var script = MachineScript.calling(tolerance: .sameKey)
        // No timer has fired yet.
        script.uptime = script.lastStart
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable", "release"])
    }

    @Test func `A call that was not made leaves the store as it was, and the next one has its key`() {
        var script = MachineScript.calling(tolerance: .sameKey)
        let key = script.key
        #expect(script.notMade() == ["save ada g0", "1: refreshUnavailable"], "not a lost response: no replay")
        #expect(script.lastIntent == nil)
        #expect(script.wrote() == ["release"])
        #expect(script.refresh(2, after: .seconds(2), reading: .stored("ada", 0)) == ["call g0"])
        #expect(script.key == key)
    }

    @Test func `A call that was not made is no first call: its time is not that of a later one`() {
        var script = MachineScript.calling(isShared: false)
        _ = script.notMade()
        _ = script.wrote()
        #expect(script.refresh(2, after: .seconds(60)) == ["call g0"])
        #expect(script.respond(lifetime: .seconds(100)) == ["save ada g1"])
        #expect(script.wrote() == ["2: signed in ada"])
        #expect(script.machine.current?.bundle.receivedAt == script.date)
    }

    @Test func `A replay that was not made leaves the intent of the call before it`() {
        var script = MachineScript.calling(tolerance: .sameKey)
        #expect(script.respond(.unavailable) == ["call g0"])
        #expect(script.notMade() == ["1: refreshUnavailable", "release"])
    }

    @Test func `The intent of another process counts again when the call over it is not made`() {
        var script = MachineScript.refreshing(isShared: true, tolerance: .sameKey)
        let stored = TokenBundle.stored("ada", 0).with(refreshIntent: script.rivalIntent(age: 200))
        #expect(script.leased(reading: stored) == ["call g0"])
        script.recordsIntents = false
        #expect(script.notMade() == ["intent ada g0", "1: refreshUnavailable"])
        #expect(script.lastIntent == stored.refreshIntent)
    }

    @Test func `The intent of a lost response counts again when a later call is not made`() {
        var script = MachineScript.calling(isShared: false)
        let lost = script.lastIntent
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable"])
        #expect(script.refresh(2, after: .seconds(60)) == ["call g0"])
        script.recordsIntents = false
        #expect(script.notMade() == ["intent ada g0", "2: refreshUnavailable"])
        #expect(script.lastIntent?.idempotencyKey == lost?.idempotencyKey && script.lastIntent?.date == lost?.date)
    }

    @Test func `An intent that was marked meanwhile is removed as well`() throws {
        var script = MachineScript.suspended()
        let marked = try #require(script.lastContent?.bundle)
        #expect(script.notMade() == ["save ada g0", "1: refreshUnavailable"])
        #expect(script.replaces(marked) && !script.replaces(marked.with(refreshIntent: nil)), "exactly what is marked")
    }

    @Test func `A call that is not made after its deadline leaves no lease and no intent`() {
        var script = MachineScript.calling()
        #expect(script.pass(.seconds(30)) == ["1: refreshUnavailable"])
        #expect(script.notMade() == ["save ada g0"])
        #expect(script.wrote() == ["release"])
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
}
