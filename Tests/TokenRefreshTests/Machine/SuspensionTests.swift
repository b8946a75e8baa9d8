import AuthInterface
import Testing

@testable import TokenRefresh

/// Rule 4: the lease is released before the system suspends the process, or is lost, and no call is made without it.
@Suite struct SuspensionTests {
    /// What takes the lease of the first attempt away.
    private static let ends = [RefreshEvent.suspensionNear, .lease(.lost(AttemptID(number: 1)))]

    @Test func `Rule 4: an attempt makes no call, and ends no session, once its lease is lost or to be released`() {
        for end in Self.ends {
            var reading = MachineScript.refreshing(for: .refresh, isShared: true)
            #expect(reading.leased() == ["reread"])
            var rejected = MachineScript.calling(for: .refresh)
            _ = rejected.respond(.rejected)
            for var script in [reading, rejected] {
                #expect(script.send(end) == ["1: refreshUnavailable", "release"])
                #expect(script.reread(.stored("ada", 0)) == [])
                #expect(script.refresh(2, after: .seconds(1)) == ["lease"])
            }
            var recording = MachineScript.recording(for: .refresh)
            #expect(recording.send(end) == ["1: refreshUnavailable", "release"])
            var next = recording
            #expect(recording.wrote() == [], "the write replaces exactly what was read, so it harms no other process")
            #expect(next.refresh(2, after: .seconds(1)) == ["lease"])
            #expect(next.wrote() == [])
            #expect(next.leased() == ["reread"], "a lease of its own, which stays")
        }
    }

    @Test func `Rule 4, G10: the intent of a call is marked before the lease goes; its response or a check counts`() {
        var script = MachineScript.suspended(for: .refresh)
        var responded = script
        #expect(responded.respond(isStored: true) == ["save ada g1", "1: signed in ada"])
        #expect(script.changed(to: .active(.stored("ada", 1))) == ["1: signed in ada"], "another process's tokens")
        #expect(script.respond() == [], "the response of an older generation is dropped")
        #expect(script.ask(2) == ["2: ada g1"])
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

    @Test func `Rule 2, G28: a response that is lost once a suspension was announced is not asked for again at once`() {
        var script = MachineScript.calling(for: .refresh, tolerance: .sameKey)
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        #expect(!script.replaces(.stored("ada", 0)), "the mark replaces the intent of the call alone")
        var (early, soon) = (script, script)
        #expect(soon.respond(.unavailable) == ["1: refreshUnavailable"])
        #expect(soon.refresh(2, after: .seconds(1)) == ["reread"])
        #expect(soon.wrote() == ["2: refreshUnavailable", "release"], "an attempt since then ends with the lease")
        #expect(early.respond(.unavailable, isStored: true) == ["1: refreshUnavailable", "release"])
        #expect(script.wrote() == ["release"])
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable"])
        #expect(script.refresh(2, after: .seconds(1)) == ["lease"])
    }

    @Test func `G8: a call that is abandoned near a suspension ends with the late response of an earlier call`() {
        var script = MachineScript.refreshing(for: .refresh)
        let abandoned = script.call
        _ = script.pass(.seconds(130), isStored: true)
        #expect(script.refresh(2) == ["call g0"])
        _ = script.pass(.seconds(125))
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        let mark = script.lastWrite
        #expect(script.respond(call: abandoned, after: .seconds(5)) == [], "the later call was cancelled at its limit")
        #expect(script.wrote(version: mark) == ["save ada g1"])
        _ = script.wrote()
        #expect(script.refresh(3) == ["call g1"])
    }

    @Test func `Rule 4: a lost lease is released once its call has ended, and its tokens or its mark are stored`() {
        var script = MachineScript.calling(for: .refresh)
        #expect(script.send(Self.ends[1]) == [], "its release would say that the call has ended")
        var (abandoned, signedOut, unsaved, rejected) = (script, script, script, script)
        #expect(script.pass(.seconds(30)) == ["1: refreshUnavailable"])
        #expect(script.respond(isStored: true) == ["save ada g1", "release"])

        #expect(abandoned.pass(.seconds(120)) == ["1: refreshUnavailable", "cancel call"])
        #expect(abandoned.pass(.seconds(10), isStored: true) == ["mark ada g0", "release"])

        _ = signedOut.signOut(2)
        #expect(!signedOut.storeFails().contains("release"), "the tokens are still in the store")
        #expect(signedOut.respond(.unavailable).contains("release"))

        // The next attempt requests a lease of its own, though the tokens are not stored yet.
        #expect(unsaved.respond(isStored: false) == ["save ada g1", "1: signed in ada"])
        #expect(unsaved.refresh(2) == ["lease"])

        // A rejection ends no session without the lease, as another process may have refreshed.
        #expect(rejected.respond(.rejected) == ["1: refreshUnavailable", "release"])
        _ = rejected.refresh(2, after: .seconds(1), reading: .stored("ada", 0))
        #expect(rejected.respond(.rejected) == ["reread"], "under a lease of its own it counts")
    }

    @Test func `the loss of a lease that was released changes nothing`() {
        var script = MachineScript.refreshing(for: .refresh, isShared: true)
        _ = script.leased(reading: .stored("ada", 1))
        _ = script.refresh(2)
        _ = script.leased()
        #expect(script.send(Self.ends[1]) == [])
    }
}

/// G8: a process that slept, or was stopped, during a call reads the response before a limit ends the call.
@Suite struct SleepTests {
    private func calling(_ change: (inout TokenRefreshPolicy) -> Void = { _ in }) -> MachineScript {
        .calling(isShared: false, policy: .with(change))
    }

    @Test(arguments: [(135_000, false), (135_000, true), (119_900, false)])
    func `G8: a call whose limit passes in a sleep is cancelled seconds later`(asleep: Int, isShared: Bool) {
        var script = MachineScript.calling(isShared: isShared)
        #expect(script.sleep(.milliseconds(asleep)) == ["1: refreshUnavailable"])
        var read = script
        #expect(read.pass(.seconds(4)) == [])
        #expect(read.respond() == ["save ada g1"])
        #expect(script.pass(.milliseconds(4_999), then: .milliseconds(1)) == ["cancel call"])
        #expect(script.pass(.milliseconds(9_999), then: .milliseconds(1)) == ["mark ada g0"])
    }

    @Test func `G8: a cancelled call is not abandoned at the wake, and is when it does not end`() {
        var script = calling()
        _ = script.pass(.seconds(121))
        #expect(script.sleep(.seconds(60)) == [])
        var hanging = script
        #expect(script.respond() == ["save ada g1"])
        #expect(hanging.pass(.milliseconds(4_999), then: .milliseconds(1)) == ["mark ada g0"])
    }

    @Test(arguments: [100, 700, 1_500, 4_900])
    func `G8: sleep after sleep, a call is cancelled in the end, and never as the process wakes`(awake: Int) {
        var script = calling()
        var wakes = 0
        var running: [String] = []
        while wakes < CallLimit.maximumSleeps - 1, running.isEmpty {
            let asleep = script.sleep(.seconds(wakes == 0 ? 135 : 3))
            #expect(!asleep.contains("cancel call"), "wake \(wakes)")
            running = script.pass(.milliseconds(awake))
            wakes += 1
        }
        // One whose wakes are all too short for a slice ends at the last of them.
        #expect(running == ["cancel call"] || (awake < 1_000 && script.sleep(.seconds(3)) == ["cancel call"]))
        #expect(awake < 1_000 || wakes <= CallLimit.slices)
    }

    @Test func `G8: a limit that is short has its own time, and the grace counts after a sleep all the same`() {
        var script = calling { ($0.deadline, $0.callLimit) = (.seconds(2), .seconds(3)) }
        var sleeper = script
        #expect(script.pass(.milliseconds(2_999)) == ["1: refreshUnavailable"])
        #expect(script.pass(.milliseconds(1)) == ["cancel call"])
        #expect(sleeper.sleep(.seconds(8)) == ["1: refreshUnavailable"])
        #expect(sleeper.pass(.milliseconds(4_999), then: .milliseconds(1)) == ["cancel call"])
        var graceless = calling { $0.wakeGrace = .zero }
        #expect(graceless.sleep(.seconds(135)).last == "cancel call", "as the process wakes")
        let short = TokenRefreshPolicy.with { $0.callLimit = .seconds(5) }
        #expect(short.longestCall == short.deadline, "no call is cancelled before the deadline of its waiters")
    }

    @Test func `G9: the call of an ended session is not cancelled at the wake, and its tokens are revoked`() {
        var script = calling()
        _ = script.signOut(2, isStored: true)
        #expect(script.sleep(.seconds(135)) == [])
        #expect(script.respond() == ["revoke ada g1"])
        #expect(script.pass(.seconds(200)) == [], "no limit is left")
    }
}
