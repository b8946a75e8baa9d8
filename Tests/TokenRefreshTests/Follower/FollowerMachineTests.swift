import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G29, G14, G25: what a follower does while it has no token to give.
@Suite struct FollowerMachineTests {
    @Test func `G29: an expired token is unavailable, after the wait for the owner's next bundle`() {
        var script = FollowerScript.following()
        #expect(script.pass(.seconds(3_600)) == [], "nothing ends")
        #expect(script.ask(1) == ["ask", "read"])
        #expect(script.ask(2) == [], "one read, one request to the owner")
        #expect(script.read(.active(script.bundle("ada", 0, lifetime: 0))) == [])
        #expect(script.pass(.seconds(9), then: .seconds(1)) == ["1: refreshUnavailable", "2: refreshUnavailable"])
        #expect((script.errors.first?.cause as? TokenRefreshError)?.code == .unavailable)
        #expect(script.state == "signed in ada")
        #expect(script.timers[.bundleWait] == nil)
    }

    @Test func `G29: requests that wait continue with the owner's next bundle`() {
        var script = FollowerScript.following(hasSource: false)
        _ = script.pass(.seconds(3_600))
        #expect(script.ask(1) == ["ask"], "a token that expires while the follower has it is not tried")
        #expect(script.refused(2, script.token("ada", 0)) == [])
        #expect(script.give(script.bundle("ada", 1)) == ["1: ada g1", "2: ada g1"])
        #expect(script.timers[.bundleWait] == nil)
    }

    @Test func `G29: a refused token without a newer bundle is unavailable, and stays the token of other requests`() {
        var script = FollowerScript.following()
        #expect(script.refused(1, script.token("ada", 0)) == ["ask", "read"])
        #expect(script.ask(2) == ["2: ada g0"])
        #expect(script.read(.active(script.bundle("ada", 0))) == [])
        #expect(script.pass(.seconds(10)) == ["1: refreshUnavailable"])
        #expect(script.state == "signed in ada")
    }

    @Test func `G2, G23: a late refusal gets the current token, and one of a session that is replaced gets none`() {
        var script = FollowerScript.following()
        var waiting = script
        _ = script.give(script.bundle("ada", 1))
        #expect(script.refused(1, script.token("ada", 0)) == ["1: ada g1"])
        _ = script.pass(.seconds(60))
        _ = script.give(script.bundle("bob", 0, begun: 30))
        #expect(script.refused(2, script.token("ada", 1)) == ["2: sessionEnded"])
        _ = waiting.refused(1, waiting.token("ada", 0))
        _ = waiting.pass(.seconds(5))
        #expect(waiting.give(waiting.bundle("bob", 0, begun: 3)) == ["signed in bob", "1: sessionEnded"])
    }

    @Test func `A token is too old to send inside the leeway, and the leeway of a short token is short`() {
        var script = FollowerScript.following()
        _ = script.pass(.seconds(3_594))
        #expect(script.machine.readyToken(at: script.uptime)?.generation == 0)
        _ = script.pass(.seconds(1))
        #expect(script.machine.readyToken(at: script.uptime) == nil)
        var short = FollowerScript()
        _ = short.give(short.bundle("ada", 0, lifetime: 10))
        _ = short.pass(.milliseconds(8_999))
        #expect(short.machine.readyToken(at: short.uptime) != nil)
    }

    @Test func `G14: a source that cannot be read now is unavailable, never signed out, and is read again`() {
        var script = FollowerScript()
        #expect(script.ask(1) == ["ask", "read"])
        #expect(script.readFails() == ["1: storeUnavailable"])
        #expect(script.state == "unknown")
        #expect(script.errors.first?.retryAfter == .seconds(2))
        #expect(script.pass(.seconds(2)) == ["read"])
        #expect(script.readFails() == [])
        #expect(script.pass(.seconds(2)) == ["read"])
        #expect(script.read(.active(script.bundle("ada", 0))) == ["signed in ada"])
    }

    @Test func `S16: a follower that has found nothing looks again when it is asked`() {
        var script = FollowerScript()
        #expect(script.ask(1) == ["ask", "read"])
        #expect(script.read(.empty) == ["signedOut never", "1: notSignedIn"])
        #expect(script.ask(2) == ["2: notSignedIn", "read"] && script.ask(3) == ["3: notSignedIn"])
        #expect(script.read(.active(script.bundle("ada", 0))) == ["signed in ada"])
    }

    @Test func `G14: a source that fails later leaves the session, and the token while it is valid`() {
        var script = FollowerScript.following()
        #expect(script.send(.changed) == ["read"])
        #expect(script.readFails() == [])
        #expect(script.ask(1) == ["1: ada g0"])
        _ = script.pass(.seconds(3_600))
        #expect(script.readFails() == [])
        #expect(script.ask(2) == ["ask", "read"])
        #expect(script.readFails() == [])
        #expect(script.pass(.seconds(10)) == ["read", "2: storeUnavailable"])
        #expect(script.state == "signed in ada")
    }

    @Test func `A change that is reported during a read is read again, once`() {
        var script = FollowerScript()
        #expect(script.send(.changed) == ["read"])
        #expect(script.send(.changed) == [])
        #expect(script.send(.changed) == [])
        #expect(script.read(.active(script.bundle("ada", 0))) == ["signed in ada", "read"])
        #expect(script.read(.active(script.bundle("ada", 1))) == [])
        #expect(script.ask(1) == ["1: ada g1"])
    }

    @Test func `G7, G25: a cancelled request leaves at once, and the limits of the others stay`() {
        var script = FollowerScript.following()
        _ = script.ask(1, after: .seconds(3_600))
        _ = script.ask(2, after: .seconds(4))
        for texts in [["1: cancelled"], []] { #expect(script.send(.waiterCancelled(WaiterID(number: 1))) == texts) }
        #expect(script.pass(.seconds(6), then: .seconds(4)) == ["2: refreshUnavailable"])
    }

    @Test func `The state is known with the first read, or with what is handed in`() {
        var script = FollowerScript()
        #expect(script.restore(1) == ["ask", "read"])
        #expect(script.read(.empty) == ["signedOut never", "1: signedOut never"])
        var watch = FollowerScript(hasSource: false)
        #expect(watch.restore(1) == ["ask"])
        #expect(watch.pass(.seconds(10)) == ["1: refreshUnavailable"])
        #expect(watch.restore(2) == ["ask"])
        #expect(watch.give(watch.bundle("ada", 0)) == ["signed in ada", "2: signed in ada"])
    }

    @Test func `G19: setting the clock does not age the token, and a stored expiry is read with the server's clock`() {
        var script = FollowerScript.following()
        script.date += 30 * 86_400
        #expect(script.ask(1) == ["1: ada g0"])
        script.date -= 60 * 86_400
        #expect(script.ask(2) == ["2: ada g0"])
        var behind = FollowerScript()
        _ = behind.give(behind.expired(clockSkew: -7_200))
        _ = behind.send(.serverDateNoted(behind.date - 5_400))
        #expect(behind.ask(1) == ["1: ada g0"], "by the server's clock it was received now")
        #expect(behind.ask(2, after: .seconds(3_600)) == ["ask", "read"])
    }

    @Test func `G19: the server's date ends the wait for a token that the device's clock takes for expired`() {
        var script = FollowerScript()
        _ = script.give(script.expired(clockSkew: 60))
        #expect(script.ask(1) == ["1: ada g0"], "the one that tries it")
        #expect(script.ask(2) == ["ask", "read"])
        #expect(script.send(.serverDateNoted(script.date - 5_400)) == ["2: ada g0"])
    }

    /// A follower whose clock is two hours ahead of that of the owner and the server, and what the owner has published.
    private func ahead(of content: StoredSession? = nil) -> FollowerScript {
        var script = FollowerScript(hasSource: false)
        script.date += 7_200
        if let content { _ = script.give(content) }
        return script
    }

    /// What an owner publishes whose clock is right. `skew`: how far the server's was ahead of it; zero if not known.
    private func published(_ generation: Int, token: String? = nil, skew: TimeInterval = 0.5) -> StoredSession {
        let date = MachineScript.start
        return .active(
            .stored(
                "ada", generation, accessToken: token, expiresAt: date + 3_600, clockSkew: skew, receivedAt: date,
                signedInAt: date))
    }

    @Test(arguments: [false, true])
    func `G29: a new token is tried once, however far ahead the follower's clock is`(isRead: Bool) {
        var script = ahead()
        _ = isRead ? script.read(published(0)) : script.give(published(0))
        #expect(script.machine.readyToken(at: script.uptime) == nil)
        #expect(script.ask(1) == ["1: ada g0"])
        #expect(script.ask(2) == ["ask"])
        #expect(script.ask(3) == [])
        _ = isRead ? script.read(published(0)) : script.give(published(0))
        #expect(script.give(published(1)) == ["2: ada g1"], "the same token again is none that is new")
        #expect(script.pass(.seconds(10)) == ["3: refreshUnavailable"])
    }

    @Test func `G29: the refusal of a token that was tried waits for the owner`() {
        var script = ahead(of: published(0))
        #expect(script.ask(1) == ["1: ada g0"])
        #expect(script.refused(2, script.token("ada", 0)) == ["ask"])
        #expect(script.give(published(1, token: "access-ada-0")) == [], "the same token in another generation")
        #expect(script.ask(3) == [])
        #expect(script.give(published(2)) == ["2: ada g2"])
        #expect(script.refused(4, script.token("ada", 2)) == [])
        #expect(script.pass(.seconds(10)) == ["3: refreshUnavailable", "4: refreshUnavailable"])
        #expect(script.state == "signed in ada")
    }

    @Test func `G29: the date of a response ends the trial: the token is valid, or it is not sent`() {
        var script = ahead(of: published(0))
        _ = script.ask(1)
        _ = script.send(.serverDateNoted(script.date - 7_200))
        for id in 2...4 { #expect(script.ask(id) == ["\(id): ada g0"]) }
        for isKnownFirst in [false, true] {
            var late = ahead()
            if isKnownFirst { _ = late.send(.serverDateNoted(late.date)) }
            _ = late.give(published(0))
            if !isKnownFirst { _ = late.send(.serverDateNoted(late.date)) }
            #expect(late.ask(1) == ["ask"], "expired by the server's clock")
        }
        var device = ahead()
        _ = device.send(.serverDateNoted(device.date - 7_200))
        _ = device.give(published(0, skew: 0))
        #expect(device.ask(1) == ["1: ada g0"], "an owner that does not know the server's clock dates by its own")
        #expect(device.ask(2) == ["ask"])
    }

    @Test func `The marker of an expired token is a session without a token`() {
        var script = FollowerScript()
        #expect(script.read(.active(script.bundle("ada", 2).withoutTokens)) == ["signed in ada"])
        #expect(script.ask(1) == ["ask", "read"])
        #expect(script.read(.active(script.bundle("ada", 3))) == ["1: ada g3"])
    }
}
