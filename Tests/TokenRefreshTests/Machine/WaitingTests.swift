import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// G3, G6, G25: callers during the pause after a failed refresh.
@Suite struct WaitingTests {
    @Test func `G25: a caller that waits for a check, and then for a step-up, waits for the deadline in all`() {
        var policy = TokenRefreshPolicy()
        policy.deadline = .seconds(5)
        let (id, ada) = (SessionID(rawValue: "ada"), TokenSubject(issuer: "https://issuer.example", id: "ada"))
        let login = TokenRefreshResult(accessToken: "access-ada-0", refreshToken: "refresh-ada-0", subject: ada)
        var script = MachineScript(policy: policy, isShared: true)
        _ = script.send(.signIn(login, id, WaiterID(number: 900)))
        _ = script.wrote()
        _ = script.refresh(1)
        _ = script.leased(reading: .stored("ada", 0))
        _ = script.finish()
        #expect(script.refused(2, generation: 1) == ["check"])
        _ = script.pass(.seconds(1))
        let high = TokenRefreshResult(accessToken: "access-high", refreshToken: "refresh-high", subject: ada)
        #expect(script.send(.stepUp(high, id, WaiterID(number: 3))) == ["save ada g2"])
        #expect(script.checked(.active(.stored("ada", 1))) == [])
        #expect(script.pass(.seconds(4)) == ["2: refreshUnavailable"])
    }

    /// A session whose first refresh has failed, with a pause of one second, and a caller that waits for its end.
    private func pausing() -> MachineScript {
        var policy = TokenRefreshPolicy()
        policy.backoff = Backoff(base: .seconds(1), limit: .seconds(60), floor: .seconds(60))
        var script = MachineScript.refreshing(for: .refresh, policy: policy)
        _ = script.respond(.unavailable)
        _ = script.refresh(2)
        return script
    }

    @Test func `G6: the waiters of a pause share the next attempt, whichever request starts it`() {
        var script = pausing()
        // The timer of the pause is late.
        script.uptime += .seconds(1)
        #expect(script.refresh(3) == ["call g0"])
        #expect(script.respond(.unavailable) == ["2: refreshUnavailable", "3: refreshUnavailable"])
    }

    @Test func `G25: a caller waits for the deadline in all, its pause included, and the attempt continues`() {
        var script = pausing()
        script.uptime += .seconds(5)
        #expect(script.refresh(3) == ["call g0"])
        #expect(script.pass(.seconds(24)) == [])
        #expect(script.pass(.seconds(1)) == ["2: refreshUnavailable"])
        #expect(script.pass(.seconds(4)) == [])
        #expect(script.pass(.seconds(1)) == ["3: refreshUnavailable"])
    }

    @Test func `G25: the end of a pause gives its callers no new deadline`() {
        var script = pausing()
        #expect(script.pass(.seconds(1)) == ["call g0"])
        #expect(script.pass(.seconds(28)) == [])
        #expect(script.pass(.seconds(1)) == ["2: refreshUnavailable"])
        #expect(script.respond() == ["save ada g1"])
    }

    @Test func `G25: an attempt that has ended leaves no deadline of a caller`() {
        var script = pausing()
        #expect(script.pass(.seconds(1)) == ["call g0"])
        #expect(script.timers[.waiterDeadline] != nil)
        _ = script.finish()
        #expect(script.timers.isEmpty)
    }

    @Test func `G25: the callers of the next attempt have deadlines of their own`() {
        var script = pausing()
        #expect(script.pass(.seconds(1)) == ["call g0"])
        #expect(script.respond(.unavailable) == ["2: refreshUnavailable"])
        #expect(script.refresh(3) == [])
        #expect(script.pass(.seconds(2)) == ["call g0"])
        #expect(script.pass(.seconds(27)) == [])
        #expect(script.pass(.seconds(1)) == ["3: refreshUnavailable"])
    }

    @Test func `G25: a pause that ends after the deadline of a caller is not waited for`() {
        var policy = TokenRefreshPolicy()
        policy.maximumPauseWait = .seconds(60)
        var script = MachineScript.refreshing(for: .refresh, policy: policy)
        _ = script.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(31)))
        #expect(script.refresh(2) == ["2: refreshUnavailable"])
        _ = script.pass(.seconds(1))
        #expect(script.refresh(3) == [])
    }

    @Test func `G25: the deadline of a caller includes the first read of the store`() {
        var script = MachineScript()
        #expect(script.refresh(1) == ["load"])
        #expect(script.pass(.seconds(8)) == [])
        #expect(script.loaded(.success(.active(.stored("ada", 0)))) == ["signed in ada", "call g0"])
        #expect(script.pass(.seconds(21)) == [])
        #expect(script.pass(.seconds(1)) == ["1: refreshUnavailable"])
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
        #expect(script.respond() == ["save ada g1"])
        #expect(script.wrote() == [])
        #expect(script.timers.isEmpty)
    }

    @Test func `G25: a late response leaves the deadline of the attempt under way to its callers`() {
        var script = MachineScript.refreshing(for: .refresh)
        let hung = script.call
        _ = script.pass(.seconds(130))
        _ = script.wrote()
        #expect(script.refresh(2) == ["call g0"])
        #expect(script.pass(.seconds(25)) == [])
        #expect(script.respond(call: hung) == ["cancel call", "save ada g1"])
        #expect(script.pass(.seconds(5)) == ["2: signed in ada"])
    }

    @Test func `G8: a sign-in that cannot be stored delays its callers by the deadline at most`() {
        var policy = TokenRefreshPolicy()
        policy.storeDeadline = .seconds(60)
        var script = MachineScript(policy: policy)
        _ = script.signIn(1, as: "ada")
        #expect(script.ask(2) == [])
        #expect(script.pass(.seconds(30)).contains("2: ada g0"))
    }

    // MARK: A store that hangs

    @Test func `G26: a request for the lease that hangs serves the next attempt`() {
        var script = MachineScript.refreshing(for: .refresh, isShared: true)
        #expect(script.pass(.seconds(32)) == ["1: refreshUnavailable"])
        #expect(script.refresh(2) == [])
        #expect(script.leased() == ["reread"])
    }

    @Test func `G26: the lease is requested again where the request of an earlier attempt has failed`() {
        var script = MachineScript.refreshing(for: .refresh, isShared: true)
        _ = script.pass(.seconds(32))
        _ = script.refresh(2)
        #expect(script.leaseFailed() == ["lease"])
        #expect(script.leaseFailed() == ["2: refreshUnavailable"])
    }

    @Test func `G26: an attempt reads the store after a read that hangs, whose result is not used`() {
        var script = MachineScript.refreshing(for: .refresh, isShared: true)
        #expect(script.leased() == ["reread"])
        #expect(script.pass(.seconds(32)) == ["1: storeUnavailable", "release"])
        #expect(script.refresh(2) == ["lease"])
        #expect(script.leased() == [])
        let late = RefreshEvent.read(
            .attempt(AttemptID(number: 1)), .success(.active(.stored("ada", 0))), ownerMayCall: false)
        #expect(script.send(late) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == ["call g0"])
    }

    @Test func `G3: during a pause a valid token is ready at once`() {
        var policy = TokenRefreshPolicy()
        policy.ahead = .seconds(600)
        var script = MachineScript.signedIn(policy: policy)
        _ = script.passToAhead()
        #expect(script.ask(1) == ["1: ada g0", "call g0"])
        _ = script.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(30)))
        #expect(script.machine.readyToken(at: script.uptime + .seconds(29))?.generation == 0)
        #expect(script.machine.readyToken(at: script.uptime + .seconds(30)) == nil)
    }
}
