import AuthInterface
import Testing

@testable import TokenRefresh

/// G8: a process that slept, or was stopped, during a call reads the response before a limit ends the call.
@Suite struct SleepTests {
    /// A process that has made a call.
    private func calling(_ change: (inout TokenRefreshPolicy) -> Void = { _ in }) -> MachineScript {
        .calling(isShared: false, policy: .with(change))
    }

    @Test func `G8: a call whose limit passes in a sleep is not cancelled at the wake, and its response is kept`() {
        var script = calling()
        #expect(script.sleep(.seconds(135)) == ["1: refreshUnavailable"])
        #expect(script.pass(.seconds(4)) == [])
        #expect(script.respond() == ["save ada g1"])
    }

    @Test(arguments: [false, true])
    func `G8: a call without a response is cancelled when the process has run for some seconds`(isShared: Bool) {
        var script = MachineScript.calling(isShared: isShared)
        _ = script.sleep(.seconds(135))
        #expect(script.pass(.milliseconds(4_999)) == [])
        #expect(script.pass(.milliseconds(1)) == ["cancel call"])
        #expect(script.pass(.milliseconds(9_999)) == [])
        #expect(script.pass(.milliseconds(1)) == ["mark ada g0"])
    }

    @Test func `G8: a process that wakes just before a limit has the same time`() {
        var script = calling()
        _ = script.sleep(.milliseconds(119_900))
        #expect(script.pass(.milliseconds(4_999)) == [])
        #expect(script.pass(.milliseconds(1)) == ["cancel call"])
    }

    @Test func `G8: a cancelled call is not abandoned at the wake, and is when it does not end`() {
        var script = calling()
        _ = script.pass(.seconds(121))
        #expect(script.sleep(.seconds(60)) == [])
        var hanging = script
        #expect(script.respond() == ["save ada g1"])
        #expect(hanging.pass(.milliseconds(4_999)) == [])
        #expect(hanging.pass(.milliseconds(1)) == ["mark ada g0"])
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
        #expect(sleeper.pass(.milliseconds(4_999)) == [])
        #expect(sleeper.pass(.milliseconds(1)) == ["cancel call"])
        var graceless = calling { $0.wakeGrace = .zero }
        #expect(graceless.sleep(.seconds(135)).last == "cancel call", "as the process wakes")
    }

    @Test
    func `G9: the call of a session that was signed out is not cancelled at the wake, and its tokens are revoked`() {
        var script = calling()
        _ = script.signOut(2, isStored: true)
        #expect(script.sleep(.seconds(135)) == [])
        #expect(script.respond() == ["revoke ada g1"])
        #expect(script.pass(.seconds(200)) == [], "no limit is left")
    }

    @Test func `Rule 3: tokens that another process stored during a sleep stay`() {
        var script = MachineScript.suspended()
        _ = script.sleep(.seconds(300))
        #expect(script.respond() == ["save ada g1"])
        let other = TokenBundle.stored("ada", 1, accessToken: "access-other", refreshToken: "refresh-other")
        _ = script.wrote(.superseded(by: .active(other)))
        #expect(script.machine.current?.bundle.accessToken == "access-other")
    }
}
