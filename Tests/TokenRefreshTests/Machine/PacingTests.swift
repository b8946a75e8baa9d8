import AuthInterface
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
            #expect(script.machine.pauseEnd(at: script.uptime) == script.uptime + .seconds(waiter == 1 ? 1 : 2))
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
        for (waiter, seconds) in [1, 2, 4].enumerated() {
            #expect(script.refresh(waiter) == ["call g0"])
            _ = script.respond(.unavailable)
            #expect(script.machine.pauseEnd(at: script.uptime) == script.uptime + .seconds(seconds))
            _ = script.pass(.seconds(seconds))
        }
        _ = script.refresh(3)
        _ = script.finish()
        #expect(script.refresh(4) == ["call g1"])
        _ = script.respond(.unavailable)
        #expect(script.machine.pauseEnd(at: script.uptime) == script.uptime + .seconds(1))
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
    func `G6, G26: the pause is as long as Retry-After says, within bounds`(asked: Int64, pause: Int64) {
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
        for (wait, factor) in [(0, 1), (10, 2), (20, 4), (40, 8), (80, 8), (90, 1)] {
            uptime += .seconds(wait)
            let cooldown = loops.refused(by: "a", isReplacement: true, at: uptime, cooldown: .seconds(10))
            #expect(cooldown == .seconds(10 * factor))
        }
    }

    @Test func `G10: a refusal by another endpoint causes one refresh in each cool-down`() {
        var loops = LoopBreaker()
        for (endpoint, isReplacement, seconds, isRefreshed) in [
            // Not the endpoint itself, and not a request whose token came in place of a refused one.
            ("a", false, 0, false), ("a", false, 0, false), ("b", true, 0, false), ("c", false, 0, true),
            // Later no cool-down runs any more: there is nothing to have another opinion on.
            ("d", false, 5, false), ("e", false, 500, false),
        ] {
            let uptime = Duration.seconds(1_000 + seconds)
            let pause = loops.refused(
                by: endpoint, isReplacement: isReplacement, at: uptime, cooldown: .seconds(10))
            #expect((pause == nil) == isRefreshed, "\(endpoint)")
        }
    }

    // MARK: Endpoints that refuse every token affect their own callers only

    private func refusal(_ script: MachineScript, _ generation: Int, by endpoint: String) -> TokenRefusal {
        TokenRefusal(of: script.token(generation), endpoint: endpoint)
    }

    @Test func `The refusing endpoint causes no refresh; a refusal by another one causes one in the same cool-down`() {
        var script = MachineScript.refreshedOnce()
        #expect(script.refused(1, refusal(script, 1, by: "GET /broken")) == ["1: unauthorized"])
        #expect(script.refused(2, refusal(script, 1, by: "GET /broken")) == ["2: unauthorized"])
        // The token itself was revoked: the next endpoint is refused as well.
        #expect(script.refused(3, refusal(script, 1, by: "GET /articles")) == ["call g1"])
        #expect(script.finish() == ["3: ada g2"])
        #expect(script.refused(4, refusal(script, 2, by: "GET /broken")) == ["4: unauthorized"], "still pays")
        #expect(script.ask(5) == ["5: ada g2"])
        var later = MachineScript.refreshedOnce(policy: .with { $0.freshness = .seconds(5) })
        #expect(later.refused(1, refusal(later, 1, by: "GET /broken")) == ["1: unauthorized"])
        let again = refusal(later, 1, by: "GET /broken")
        #expect(later.refused(2, again, after: .seconds(6)) == ["2: unauthorized"], "its cool-down lasts longer")
        var expired = MachineScript.refreshedOnce(lifetime: .seconds(8))
        #expect(expired.refused(1, refusal(expired, 1, by: "GET /broken")) == ["1: unauthorized"])
        _ = expired.pass(.seconds(9))
        #expect(expired.refused(2, refusal(expired, 1, by: "GET /broken")) == ["call g1"], "it has expired")
    }

    @Test func `A replacement that is refused proves a loop, in any process, unless it has expired`() throws {
        var script = MachineScript.refreshing(isShared: true)
        // Another process has refreshed, at a time that is not known here.
        #expect(script.leased(reading: .stored("ada", 1)).first == "1: ada g1")
        var token = script.token(1)
        token.issuance.replacedAt = script.uptime
        #expect(script.refused(2, TokenRefusal(of: token)) == ["check"])
        #expect(script.checked(.active(.stored("ada", 1))) == ["2: unauthorized"])
        #expect(script.refused(3, generation: 1, after: .seconds(10)) == ["lease"])

        var late = MachineScript.refreshedOnce(lifetime: .seconds(40))
        #expect(late.refused(1, generation: 0, after: .seconds(31)) == ["1: ada g1"])
        let given = TokenRefusal(of: try #require(late.given(1)))
        var expired = late
        #expect(late.refused(2, given) == ["2: unauthorized"])
        #expect(expired.refused(2, given, after: .seconds(9.5)) == ["call g1"])
    }

    @Test(arguments: [false, true])
    func `G10: where its own tokens are not stored yet, the store is looked into all the same`(isWriting: Bool) {
        var script = MachineScript.calling(policy: .with { $0.freshness = .seconds(60) })
        _ = script.respond()
        #expect((isWriting ? script.pass(.seconds(10)) : script.storeFails()) == ["1: ada g1"])
        #expect(script.refused(2, generation: 1) == ["check"])
        #expect(script.checked(.active(.stored("ada", 0))) == ["2: unauthorized"])
        #expect(script.refused(3, generation: 1) == ["check"])
        #expect(script.checked(.active(.stored("ada", 2))).contains("3: ada g2"), "another process has refreshed")
    }

    @Test(arguments: [(2, 1.5, "check"), (60, 1.5, "lease"), (-30, 1.5, "lease"), (8, 3, "lease")])
    func `G10: the first refusal of a token that another process has refreshed is verified by a refresh`(
        age: Double, pause: Double, again: String
    ) {
        var script = MachineScript.signedIn(isShared: true)
        let adopted = TokenBundle.stored("ada", 1, receivedAt: script.date - age)
        _ = script.changed(to: .active(adopted))
        #expect(script.refused(1, refusal(script, 1, by: "GET /broken")) == ["lease"])
        _ = script.leaseFailed()
        _ = script.pass(.seconds(pause))
        var token = script.token(1)
        token.issuance.failures = 1
        let refusal = TokenRefusal(of: token, endpoint: "GET /broken")
        #expect(script.refused(2, refusal) == [again], "one in a cool-down, while it is as fresh as its refresh there")
    }

    @Test func `The shared store is read first: a newer token of another process is returned`() {
        var script = MachineScript.refreshedOnce(isShared: true)
        #expect(script.refused(1, generation: 1) == ["check"])
        var slow = script
        #expect(script.refused(2, generation: 1) == [], "the check under way may have seen an older state")
        #expect(script.checked(.active(.stored("ada", 2))) == ["1: ada g2", "check"])
        #expect(script.checked(.active(.stored("ada", 2))) == ["2: ada g2"])
        #expect(slow.pass(.seconds(9), then: .seconds(1)) == ["lease"], "a check that lasts longer than the cool-down")
    }

    @Test func `A token is fresh for a quarter of its lifetime at most`() {
        for (age, isFresh) in [(1, true), (3, false)] {
            var script = MachineScript.refreshedOnce(lifetime: .seconds(8))
            let isRefused = script.refused(2, generation: 1, after: .seconds(age)).contains("2: unauthorized")
            #expect(isRefused == isFresh, "\(age)")
        }
    }

    @Test func `The number of remembered endpoints is bounded`() {
        var breaker = LoopBreaker()
        for number in 0..<1_000 {
            _ = breaker.refused(
                by: "\(number)", isReplacement: true, at: .seconds(number), cooldown: .seconds(10_000))
        }
        let remembered = (0..<1_000).filter { breaker.pause(of: "\($0)", at: .seconds(1_000)) != nil }
        #expect(remembered.count == LoopBreaker.endpointLimit)
        #expect(remembered.first == 1_000 - LoopBreaker.endpointLimit)
    }
}
