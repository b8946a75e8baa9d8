import AuthInterface
import Testing

@testable import TokenRefresh

/// Rule 4: the lease is released before the system suspends the process, or is lost, and no call is made without it.
@Suite struct SuspensionTests {
    /// What takes the lease of the first attempt away.
    private static let ends = [RefreshEvent.suspensionNear, .leaseLost(AttemptID(number: 1))]

    @Test func `Rule 4: an attempt that reads the store makes no call once its lease is lost or to be released`() {
        for end in Self.ends {
            var script = MachineScript.refreshing(for: .refresh, isShared: true)
            #expect(script.leased() == ["reread"])
            #expect(script.send(end) == ["1: refreshUnavailable", "release"])
            #expect(script.reread(.stored("ada", 0)) == [])
            #expect(script.refresh(2, after: .seconds(1)) == ["lease"])
        }
    }

    @Test func `Rule 4: an intent that is being stored causes no call once the lease is lost or to be released`() {
        for end in Self.ends {
            var script = MachineScript.recording(for: .refresh)
            #expect(script.send(end) == ["1: refreshUnavailable", "release"])
            var next = script
            #expect(script.wrote() == [], "the write replaces exactly what was read, so it harms no other process")
            #expect(next.refresh(2, after: .seconds(1)) == ["lease"])
            #expect(next.wrote() == [])
            #expect(next.leased() == ["reread"], "a lease of its own, which stays")
        }
    }

    @Test func `Rule 4: the intent of a call under way is marked before the lease goes, and the response is kept`() {
        var script = MachineScript.suspended(for: .refresh)
        #expect(script.respond() == ["save ada g1"])
        #expect(script.wrote() == ["1: signed in ada"])
    }

    @Test func `Rule 4: the intent of a needless call is not marked while new tokens are being stored`() {
        var script = MachineScript.calling(for: .refresh)
        let hung = script.call
        #expect(script.pass(.seconds(130)) == ["1: refreshUnavailable", "cancel call", "mark ada g0"])
        let marked = script.lastContent?.bundle ?? .stored("ada", 0)
        #expect(script.wrote() == ["release"])
        #expect(script.refresh(2, reading: marked) == ["call g0"])
        #expect(script.respond(call: hung) == ["cancel call", "save ada g1"])
        #expect(script.send(.suspensionNear) == [])
        #expect(script.wrote() == ["2: signed in ada", "release"], "the tokens are the last content")
    }

    @Test func `Rule 2: a response that is lost after a suspension took the lease is not asked for again at once`() {
        var script = MachineScript.suspended(for: .refresh, tolerance: .sameKey)
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable"])
        #expect(script.refresh(2, after: .seconds(1)) == ["lease"])
    }

    @Test func `G8: a call that is abandoned near a suspension ends with the late response of an earlier call`() {
        var script = MachineScript.refreshing(for: .refresh)
        let abandoned = script.call
        _ = script.pass(.seconds(130))
        _ = script.wrote()
        #expect(script.refresh(2) == ["call g0"])
        _ = script.pass(.seconds(125))
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        let mark = script.lastWrite
        #expect(script.respond(call: abandoned, after: .seconds(5)) == [], "the later call was cancelled at its limit")
        #expect(script.wrote(version: mark) == ["save ada g1"])
        _ = script.wrote()
        #expect(script.refresh(3) == ["call g1"])
    }

    @Test func `G10: a check adopts the tokens of another process during a call that has no lease any more`() {
        var script = MachineScript.suspended(for: .refresh)
        #expect(script.changed(to: .active(.stored("ada", 1))) == ["1: signed in ada"])
        #expect(script.respond() == [], "the response of an older generation is dropped")
        #expect(script.ask(2) == ["2: ada g1"])
    }

    // MARK: A lease that is lost

    /// A call whose lease is lost. Its release would say that the call has ended.
    private func withoutLease(tolerance: ReplayTolerance = .none) -> MachineScript {
        var script = MachineScript.calling(for: .refresh, tolerance: tolerance)
        #expect(script.send(Self.ends[1]) == [])
        return script
    }

    @Test func `Rule 4: a lost lease is released once its call has ended and the response is stored`() {
        var script = withoutLease()
        #expect(script.pass(.seconds(30)) == ["1: refreshUnavailable"])
        #expect(script.respond() == ["save ada g1"])
        #expect(script.wrote() == ["release"])
    }

    @Test func `Rule 4: a lost lease is released once its call is abandoned and the intent marked`() {
        var script = withoutLease()
        #expect(script.pass(.seconds(120)) == ["1: refreshUnavailable", "cancel call"])
        #expect(script.pass(.seconds(10)) == ["mark ada g0"])
        #expect(script.wrote() == ["release"])
    }

    @Test func `Rule 4: a lost lease is released once the call of a session that was signed out has ended`() {
        var script = withoutLease()
        _ = script.signOut(2)
        #expect(!script.storeFails().contains("release"), "the tokens are still in the store")
        #expect(script.respond(.unavailable).contains("release"))
    }

    @Test func `Rule 4: an attempt after a lost lease requests another one, though the tokens are not stored yet`() {
        var script = withoutLease()
        _ = script.respond()
        #expect(script.storeFails() == ["1: signed in ada"])
        #expect(script.refresh(2) == ["lease"])
    }

    @Test func `Rule 4: a call whose lease was lost is not replayed at once`() {
        var script = withoutLease(tolerance: .sameKey)
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable", "release"])
    }

    @Test func `Rule 4: a rejection without the lease ends no session, as another process may have refreshed`() {
        var script = withoutLease()
        #expect(script.respond(.rejected) == ["1: refreshUnavailable", "release"])
        _ = script.refresh(2, after: .seconds(1), reading: .stored("ada", 0))
        #expect(script.respond(.rejected) == ["reread"], "under a lease of its own it counts")
    }

    @Test func `Rule 4: a session whose lease is lost after a rejection does not end`() {
        var script = MachineScript.calling(for: .refresh)
        _ = script.respond(.rejected)
        #expect(script.send(Self.ends[1]) == ["1: refreshUnavailable", "release"])
        #expect(script.reread(.stored("ada", 0)) == [])
    }

    @Test func `the loss of a lease that was released changes nothing`() {
        var script = MachineScript.refreshing(for: .refresh, isShared: true)
        _ = script.leased(reading: .stored("ada", 1))
        _ = script.refresh(2)
        _ = script.leased()
        #expect(script.send(Self.ends[1]) == [])
    }
}
