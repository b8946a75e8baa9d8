import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// G6, G10, G11: pauses grow, end and start again.
@Suite struct PacingTests {
    private let policy = TokenRefreshPolicy.withoutJitter

    private func pause(of timer: RefreshTimer, _ script: MachineScript) -> Duration? {
        script.timers[timer].map { $0 - script.uptime }
    }

    @Test func `G11: retries of a failed write wait up to two seconds, and start again after a success`() {
        var script = MachineScript.refreshing(for: .refresh, policy: policy)
        _ = script.respond()
        for seconds in [1, 2, 2, 2] {
            _ = script.storeFails()
            #expect(pause(of: .storeRetry, script) == .seconds(seconds))
            #expect(script.pass(.seconds(seconds)) == ["save ada g1"])
        }
        _ = script.wrote()
        _ = script.refresh(2)
        _ = script.respond(isStored: false)
        #expect(pause(of: .storeRetry, script) == .seconds(1))
    }

    @Test func `G25: a store that is back is noticed within seconds, however long it was away`() {
        var script = MachineScript.signedIn(isShared: true, policy: policy)
        for waiter in 1...8 {
            #expect(script.refresh(waiter) == ["lease"])
            _ = script.leased(reading: .failure(.locked))
            let pause = script.machine.pauseEnd(at: script.uptime).map { $0 - script.uptime }
            #expect(pause == .seconds(waiter == 1 ? 1 : 2))
            _ = script.pass(.seconds(2))
        }
    }

    @Test func `G14: a store that cannot be read is read again after a pause of up to two seconds`() {
        var script = MachineScript(policy: policy)
        #expect(script.ask(1) == ["load"])
        for seconds in [1, 2, 2] {
            _ = script.loaded(.failure(.locked))
            #expect(pause(of: .reload, script) == .seconds(seconds))
            #expect(script.pass(.seconds(seconds)) == ["load"])
        }
    }

    @Test func `G14: a change that cannot be read is read again after pauses that grow until a read succeeds`() {
        var script = MachineScript.signedIn(isShared: true, policy: policy)
        _ = script.send(.storeChanged)
        for seconds in [1, 2, 2] {
            #expect(script.checkFails() == [])
            #expect(pause(of: .reload, script) == .seconds(seconds))
            #expect(script.pass(.seconds(seconds)) == ["check"])
        }
        #expect(script.checked(.active(.stored("bob", 0))) == ["signed in bob"])
        #expect(script.pass(.seconds(60)) == [], "and not once more")
        _ = script.send(.storeChanged)
        _ = script.checkFails()
        #expect(pause(of: .reload, script) == .seconds(1))
        #expect(script.pass(.seconds(1)) == ["check"])
        #expect(script.checkFails(.corrupt) == [])
        #expect(script.pass(.seconds(60)) == [], "what is corrupt waits for the next change")
    }

    @Test func `G6: pauses between failed refreshes grow, and start again after a success`() {
        var script = MachineScript.signedIn(policy: policy)
        var waiter = 1
        for seconds in [1, 2, 4] {
            _ = script.refresh(waiter)
            _ = script.respond(.unavailable)
            #expect(script.refresh(waiter + 1) == (seconds > 2 ? ["\(waiter + 1): refreshUnavailable"] : []))
            _ = script.cancel(waiter + 1)
            _ = script.pass(.seconds(seconds))
            waiter += 2
        }
        _ = script.refresh(100)
        _ = script.finish()
        #expect(script.refresh(101) == ["call g1"])
        _ = script.respond(.unavailable)
        _ = script.refresh(102)
        #expect(script.pass(.seconds(1)) == ["call g1"])
    }

    @Test func `G6: a late, unusable response does not shorten the pause that the server asked for`() {
        var script = MachineScript.refreshing(for: .refresh, policy: policy)
        let abandoned = script.call
        _ = script.pass(.seconds(130))
        #expect(script.wrote() == [], "the mark of the abandoned call")
        #expect(script.refresh(2) == ["call g0"])
        let asked = TokenRefreshError(.unavailable, retryAfter: .seconds(300))
        #expect(script.respond(asked) == ["2: refreshUnavailable"])
        _ = script.respond(TokenRefreshResult(accessToken: "line\nfeed"), call: abandoned)
        #expect(script.refresh(3, after: .seconds(299)) == [], "waits for the end of the pause")
        #expect(script.pass(.seconds(1)) == ["call g0"])
    }

    @Test(arguments: [(-100, 1), (.min, 1), (20, 20), (86_400, 300), (.max, 300)] as [(Int64, Int64)])
    func `G6, G26: the pause is as long as Retry-After says, from that of the backoff to a bound`(
        asked: Int64, pause: Int64
    ) {
        var script = MachineScript.refreshing(policy: policy)
        let error = TokenRefreshError(.unavailable, retryAfter: .seconds(asked))
        #expect(script.respond(error) == ["1: refreshUnavailable"])
        #expect(script.pass(.seconds(pause - 1)) == [])
        #expect(script.refused(2, generation: 0) == [])
        #expect(script.pass(.seconds(1)) == ["call g0"])
    }

    @Test func `G10: the cool-down of an endpoint doubles up to eight times its length, and starts again later`() {
        var loops = LoopBreaker()
        var uptime = Duration.seconds(1_000)
        for factor in [1, 2, 4, 8, 8] {
            let cooldown = loops.refused(by: "a", isReplacement: true, at: uptime, cooldown: .seconds(10))
            #expect(cooldown == .seconds(10 * factor))
            uptime += .seconds(10 * factor)
        }
        uptime += .seconds(10)
        let cooldown = loops.refused(by: "a", isReplacement: true, at: uptime, cooldown: .seconds(10))
        #expect(cooldown == .seconds(10))
    }

    @Test func `G10: a refusal by another endpoint causes one refresh in each cool-down`() {
        var loops = LoopBreaker()
        let start = Duration.seconds(1_000)
        func refused(_ endpoint: String, isReplacement: Bool = false, after seconds: Int = 0) -> Bool {
            let at = start + .seconds(seconds)
            return loops.refused(by: endpoint, isReplacement: isReplacement, at: at, cooldown: .seconds(10)) == nil
        }
        #expect(!refused("a"))
        // Not the endpoint itself, and not a request whose token came in place of a refused one.
        #expect(!refused("a"))
        #expect(!refused("b", isReplacement: true))
        #expect(refused("c"))
        #expect(!refused("d", after: 5))
        // No cool-down runs any more: there is nothing to have another opinion on.
        #expect(!refused("e", after: 500))
    }
}
