import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// G3, G6, G25: callers during the pause after a failed refresh.
@Suite struct WaitingTests {
    /// A session whose first refresh has failed, with a pause of one second, and a caller that waits for its end.
    private func pausing() -> MachineScript {
        var policy = TokenRefreshPolicy()
        policy.backoff = Backoff(base: .seconds(1), limit: .seconds(60), floor: .seconds(60))
        var script = MachineScript.signedIn(policy: policy)
        _ = script.refresh(1)
        _ = script.respond(.unavailable)
        _ = script.refresh(2)
        return script
    }

    /// The time until the attempt under way ends without a response.
    private func timeLeft(_ script: MachineScript) -> Duration? {
        let deadlines = script.timers.compactMap { timer, end in
            if case .deadline = timer { end } else { nil }
        }
        return deadlines.min().map { $0 - script.uptime }
    }

    @Test func `G6: the waiters of a pause share the next attempt, whichever request starts it`() {
        var script = pausing()
        // The timer of the pause is late.
        script.uptime += .seconds(1)
        #expect(script.refresh(3) == ["call g0"])
        #expect(script.respond(.unavailable) == ["2: refreshUnavailable", "3: refreshUnavailable"])
    }

    @Test func `G25: the deadline of an attempt includes the pause that its callers have waited for`() {
        var script = pausing()
        script.uptime += .seconds(5)
        _ = script.refresh(3)
        #expect(timeLeft(script) == .seconds(25))
    }

    @Test func `G25: after a long wait of its callers an attempt still has half of its deadline`() {
        var script = pausing()
        script.uptime += .seconds(29)
        _ = script.refresh(3)
        #expect(timeLeft(script) == .seconds(15))
    }

    @Test func `G3: during a pause a valid token is ready at once`() {
        var script = MachineScript.signedIn()
        _ = script.pass(.seconds(3_540))
        #expect(script.ask(1) == ["1: ada g0", "call g0"])
        _ = script.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(30)))
        #expect(script.machine.readyToken(at: script.uptime + .seconds(29))?.generation == 0)
        #expect(script.machine.readyToken(at: script.uptime + .seconds(30)) == nil)
    }
}
