import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G10: an endpoint that refuses every token affects its own callers only.
@Suite struct LoopBreakerTests {
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
        var expired = MachineScript.refreshedOnce(lifetime: .seconds(8))
        #expect(expired.refused(1, refusal(expired, 1, by: "GET /broken")) == ["1: unauthorized"])
        _ = expired.pass(.seconds(9))
        #expect(
            expired.refused(2, refusal(expired, 1, by: "GET /broken")) == ["call g1"], "an expired one, in any case")
    }

    @Test func `A server that returns the refused token again causes no loop`() {
        var script = MachineScript.refreshing()
        let same = TokenRefreshResult(accessToken: "access-ada-0", refreshToken: "refresh-ada-0")
        #expect(script.respond(same, isStored: true) == ["save ada g1", "1: ada g1"])
        for waiter in 2...20 { #expect(script.refused(waiter, generation: 1) == ["\(waiter): unauthorized"]) }
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
            var script = MachineScript.refreshing()
            _ = script.wrote()
            _ = script.finish(lifetime: .seconds(8))
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
