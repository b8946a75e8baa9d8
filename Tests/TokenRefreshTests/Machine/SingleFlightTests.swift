import AuthInterface
import ConcurrencyPrimitives
import Testing

@testable import TokenRefresh

/// G1, G2, G6 to G8: one refresh for all requests, and its possible ends.
@Suite struct SingleFlightTests {
    @Test func `G8: the limit of an earlier session's call is not that of the call under way`() {
        var script = MachineScript.refreshing(for: .refresh)
        _ = script.pass(.seconds(5))
        _ = script.signIn(2, as: "bob", isStored: true)
        #expect(script.refresh(3) == ["call g0"])
        #expect(script.pass(.seconds(115)).last == "cancel call")
        #expect(script.pass(.seconds(5)) == ["cancel call"])
        #expect(script.pass(.milliseconds(9_999), then: .milliseconds(1)) == ["mark bob g0"])
    }

    @Test func `G1: any number of requests refused together cause one call, and all continue with its result`() {
        var script = MachineScript.refreshing()
        for waiter in 2...10_000 { #expect(script.refused(waiter, generation: 0) == []) }
        #expect(script.respond() == ["save ada g1"])
        #expect(script.wrote() == (1...10_000).map { "\($0): ada g1" })
    }

    @Test func `G2: a refusal that arrives after the refresh gets the new token, without a refresh`() {
        var script = MachineScript.refreshedOnce()
        for waiter in 10...29 { #expect(script.refused(waiter, generation: 0) == ["\(waiter): ada g1"]) }
        var storing = MachineScript.refreshing()
        #expect(storing.respond() == ["save ada g1"])
        #expect(storing.refused(2, generation: 0) == [], "they are being stored")
        #expect(storing.wrote() == ["1: ada g1", "2: ada g1"])
        var restored = MachineScript.signedIn(isShared: true)
        #expect(restored.refused(1, generation: 1) == ["1: ada g0"], "a restored backup has older tokens")
    }

    @Test func `G6: all waiters share one failure, and requests in the pause get it without another call`() {
        var script = MachineScript.signedIn()
        for waiter in 1...100 { _ = script.refused(waiter, generation: 0) }
        let asked = TokenRefreshError(.unavailable, retryAfter: .seconds(20))
        #expect(script.respond(asked) == (1...100).map { "\($0): refreshUnavailable" })
        #expect(script.refused(101, generation: 0) == ["101: refreshUnavailable"])
        #expect(script.pass(.seconds(20)) == [])
        #expect(script.refused(102, generation: 0) == ["call g0"])
    }

    @Test func `G6: a request in a short pause waits for its end and is served by the next refresh`() {
        var script = MachineScript.refreshing()
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable"])
        #expect(script.refused(2, generation: 0) == [])
        #expect(script.refused(3, generation: 0) == [])
        #expect(script.pass(.seconds(1)) == ["call g0"])
        #expect(script.finish() == ["2: ada g1", "3: ada g1"])
    }

    @Test func `G6: pauses are jittered over their whole length`() {
        var generator = SplitMix64(seed: 1)
        let backoff = Backoff(base: .milliseconds(500), limit: .seconds(60), floor: .milliseconds(100))
        let delays = (0..<200).map { _ in backoff.delay(afterFailures: .max, using: &generator) }
        #expect(Set(delays).count > 100 && delays.contains { $0 > .seconds(30) })
    }

    @Test func `G7: a cancelled waiter returns at once, and the others, or only the store, get the result`() {
        var script = MachineScript.refreshing()
        _ = script.refused(2, generation: 0)
        #expect(script.cancel(1) == ["1: cancelled"])
        #expect(script.cancel(1) == [])
        #expect(script.cancel(2) == ["2: cancelled"])
        #expect(script.respond(isStored: true) == ["save ada g1"])
        #expect(script.ask(3) == ["3: ada g1"])
    }

    @Test func `G7: a cancelled restore, sign-in or sign-out returns at once and is completed`() {
        var script = MachineScript()
        #expect(script.restore(1) == ["load"])
        #expect(script.cancel(1) == ["1: cancelled"])
        #expect(script.loaded(.success(.active(.stored("ada", 0)))) == ["signed in ada"])
        _ = script.signIn(2, as: "bob")
        #expect(script.cancel(2) == ["2: cancelled"])
        #expect(script.wrote().contains("signed in bob"))
        #expect(script.signOut(3).first == "delete")
        #expect(script.cancel(3) == ["3: cancelled"])
        #expect(script.wrote().allSatisfy { $0.hasPrefix("revoke") })
        #expect(script.machine.published == .signedOut(.byUser))
    }

    @Test func `G8: a refresh that hangs fails its waiters at the deadline, and the session stays`() {
        var script = MachineScript.refreshing()
        #expect(script.pass(.milliseconds(29_999), then: .milliseconds(1)) == ["1: refreshUnavailable"])
        #expect(script.state == "signed in ada")
        var rejected = script
        #expect(rejected.rejected() == ["delete"])
        #expect(
            rejected.wrote().contains("signedOut expired"), "a late rejection counts, where nothing newer is stored")
        // Meanwhile valid tokens are returned, and no second call is made.
        #expect(script.ask(2) == ["2: ada g0"])
        #expect(script.refused(3, generation: 0) == ["3: refreshUnavailable"])
        #expect(script.pass(.seconds(60)) == [])
        #expect(script.refused(4, generation: 0) == ["4: refreshUnavailable"])
        #expect(script.respond(isStored: true) == ["save ada g1"])
        #expect(script.ask(5) == ["5: ada g1"])
        var ahead = MachineScript.signedIn(policy: .with { $0.ahead = .seconds(600) })
        _ = ahead.passToAhead()
        #expect(ahead.ask(1) == ["1: ada g0", "call g0"])
        #expect(ahead.ask(2, after: .seconds(40)) == ["2: ada g0"])
    }

    @Test func `G8: at its second limit a call is cancelled, then abandoned; the next one uses the same key`() {
        var script = MachineScript.calling()
        let (hung, key) = (script.call, script.key)
        #expect(script.pass(.seconds(119)) == ["1: refreshUnavailable"])
        #expect(script.pass(.seconds(1)) == ["cancel call"])
        #expect(script.pass(.seconds(10), isStored: true) == ["mark ada g0", "release"])
        #expect(script.refused(2, generation: 0) == ["lease"])
        _ = script.leased()
        let marked = script.lastContent?.bundle
        #expect(marked?.refreshIntent?.isAbandoned == true)
        #expect(script.reread(marked ?? .stored("ada", 0)) == ["call g0"])
        #expect(script.key == key)
        #expect(script.respond(call: hung) == ["cancel call", "save ada g1"], "the late response is kept")
        #expect(script.wrote() == ["2: ada g1"], "the second call keeps the lease until it ends")
        var needless = script
        #expect(needless.refresh(3) == ["3: refreshUnavailable"])
        #expect(needless.pass(.seconds(9), then: .seconds(1)) == ["release"], "it does not end, and is abandoned")
        #expect(script.respond(.rejected) == ["release"])
        #expect(script.ask(3) == ["3: ada g1"])
    }

    @Test func `G10: of the callers of one refresh, those whose token was refused get one that says so`() {
        var script = MachineScript.signedIn()
        #expect(script.ask(1, after: .seconds(3_600)) == ["call g0"])
        #expect(script.refused(2, generation: 0) == [] && script.ask(3) == [] && script.refused(4, generation: 0) == [])
        _ = script.respond()
        #expect(script.wrote() == (1...4).map { "\($0): ada g1" })
        #expect((1...4).map { script.given($0)?.issuance.replacedAt } == [nil, script.uptime, nil, script.uptime])
    }
}
