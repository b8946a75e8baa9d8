import AuthInterface
import Testing

@testable import TokenRefresh

/// G3, G6, G25: callers during the pause after a failed refresh.
@Suite struct WaitingTests {
    @Test func `G25: a caller that waits for a check, and then for a step-up, waits for the deadline in all`() {
        var script = MachineScript.known(isShared: true, policy: .with { $0.deadline = .seconds(5) })
        _ = script.refresh(1, reading: .stored("ada", 0))
        _ = script.finish()
        #expect(script.refused(2, generation: 1) == ["check"])
        _ = script.pass(.seconds(1))
        #expect(script.stepUp(3) == ["save ada g2"])
        #expect(script.checked(.active(.stored("ada", 1))) == [])
        #expect(script.pass(.seconds(4)) == ["2: refreshUnavailable"])
    }

    /// A session whose first refresh has failed, with a pause of one second, and a caller that waits for its end.
    private func pausing() -> MachineScript {
        var script = MachineScript.refreshing(for: .refresh, policy: .withoutJitter)
        _ = script.respond(.unavailable)
        _ = script.refresh(2)
        return script
    }

    @Test func `G25: a caller waits for the deadline in all, its pause included, and the attempt continues`() {
        var script = pausing()
        // The timer of the pause is late: the request starts the attempt, which serves both (G6).
        script.uptime += .seconds(5)
        #expect(script.refresh(3) == ["call g0"])
        var failed = script
        #expect(failed.respond(.unavailable) == ["2: refreshUnavailable", "3: refreshUnavailable"])
        #expect(script.pass(.seconds(24), then: .seconds(1)) == ["2: refreshUnavailable"])
        #expect(script.pass(.seconds(4), then: .seconds(1)) == ["3: refreshUnavailable"])
    }

    @Test func `G25: the end of a pause gives its callers no new deadline, and the next attempt has its own`() {
        var script = pausing()
        #expect(script.pass(.seconds(1)) == ["call g0"])
        #expect(script.timers[.waiterDeadline] != nil)
        var (ended, failed) = (script, script)
        #expect(script.pass(.seconds(28), then: .seconds(1)) == ["2: refreshUnavailable"])
        #expect(script.respond() == ["save ada g1"])

        _ = ended.finish()
        #expect(ended.timers.isEmpty, "an attempt that has ended leaves no deadline of a caller")

        #expect(failed.respond(.unavailable) == ["2: refreshUnavailable"])
        #expect(failed.refresh(3) == [])
        #expect(failed.pass(.seconds(2)) == ["call g0"])
        #expect(failed.pass(.seconds(27), then: .seconds(1)) == ["3: refreshUnavailable"])
    }

    @Test func `G25: a pause that ends after the deadline of a caller is not waited for`() {
        var script = MachineScript.refreshing(for: .refresh, policy: .with { $0.maximumPauseWait = .seconds(60) })
        _ = script.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(31)))
        #expect(script.refresh(2) == ["2: refreshUnavailable"])
        #expect(script.refresh(3, after: .seconds(1)) == [])
    }

    @Test func `G25: the deadline of a caller includes the first read of the store`() {
        var script = MachineScript()
        #expect(script.refresh(1) == ["load"])
        #expect(script.pass(.seconds(8)) == [])
        #expect(script.loaded(.success(.active(.stored("ada", 0)))) == ["signed in ada", "call g0"])
        #expect(script.pass(.seconds(21), then: .seconds(1)) == ["1: refreshUnavailable"])
    }

    @Test func `G25: callers that came one after the other fail at their own deadlines`() {
        var script = pausing()
        script.uptime += .milliseconds(100)
        _ = script.refresh(3)
        script.uptime += .milliseconds(800)
        _ = script.refresh(4)
        #expect(script.pass(.milliseconds(100)) == ["call g0"])
        #expect(script.pass(.seconds(29)) == ["2: refreshUnavailable", "3: refreshUnavailable"])
        #expect(script.pass(.milliseconds(900)) == ["4: refreshUnavailable"])
        #expect(script.respond(isStored: true) == ["save ada g1"])
        #expect(script.timers.isEmpty)
    }

    @Test func `G25: a late response leaves the deadline of the attempt under way to its callers`() {
        var script = MachineScript.refreshing(for: .refresh)
        let hung = script.call
        _ = script.pass(.seconds(130), isStored: true)
        #expect(script.refresh(2) == ["call g0"])
        #expect(script.pass(.seconds(25)) == [])
        #expect(script.respond(call: hung) == ["cancel call", "save ada g1"])
        #expect(script.pass(.seconds(5)) == ["2: signed in ada"])
    }

    @Test func `G8: a sign-in that cannot be stored delays its callers by the deadline at most`() {
        var script = MachineScript(policy: .with { $0.storeDeadline = .seconds(60) })
        _ = script.signIn(1, as: "ada")
        #expect(script.ask(2) == [])
        #expect(script.pass(.seconds(30)).contains("2: ada g0"))
    }

    // MARK: A store that hangs

    @Test func `G26: a request for the lease that hangs serves the next attempt, and one that failed is made again`() {
        var script = MachineScript.refreshing(for: .refresh, isShared: true)
        #expect(script.pass(.seconds(32)) == ["1: refreshUnavailable"])
        #expect(script.refresh(2) == [])
        var failed = script
        #expect(script.leased() == ["reread"])
        #expect(failed.leaseFailed() == ["lease"])
        #expect(failed.leaseFailed() == ["2: refreshUnavailable"])
    }

    @Test func `G26: an attempt reads the store after a read that hangs, whose result is not used`() {
        var script = MachineScript.refreshing(for: .refresh, isShared: true)
        #expect(script.leased() == ["reread"])
        #expect(script.pass(.seconds(32)) == ["1: storeUnavailable", "release"])
        #expect(script.refresh(2) == ["lease"])
        #expect(script.leased() == [])
        let late = StoreReading(result: .success(.active(.stored("ada", 0))))
        #expect(script.send(.read(.attempt(AttemptID(number: 1)), late, ownerMayCall: false)) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == ["call g0"])
    }

    @Test func `G3: during a pause a valid token is ready at once`() {
        var script = MachineScript.signedIn(policy: .with { $0.ahead = .seconds(600) })
        _ = script.passToAhead()
        #expect(script.ask(1) == ["1: ada g0", "call g0"])
        _ = script.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(30)))
        #expect(script.machine.ready?.token(at: script.uptime + .seconds(29))?.generation == 0)
        #expect(script.machine.ready?.token(at: script.uptime + .seconds(30)) == nil)
    }

    @Test func `G8: the write of a version serves the callers of it and of older ones`() {
        func waiter(_ number: Int) -> Waiter { Waiter(id: WaiterID(number: number), request: .settle, since: .zero) }
        var room = Callers()
        for (number, version, isSignIn) in [(1, 1, true), (2, 3, false), (3, 2, false)] {
            room.add(waiter(number), to: .write(version: version, isSignIn: isSignIn))
        }
        room.add(waiter(4), to: .attempt)
        #expect(room.takeWriters(upTo: 0).map(\.id) == [])
        let served = room.takeWriters(upTo: 2)
        #expect(served.map(\.id.number) == [1, 3] && served.map(\.isSignIn) == [true, false])
        #expect(room.takeWriters(upTo: 2).map(\.id) == [] && !room.isEmpty(.attempt))
        #expect(room.takeWriters(upTo: 3).map(\.id.number) == [2])
    }
}
