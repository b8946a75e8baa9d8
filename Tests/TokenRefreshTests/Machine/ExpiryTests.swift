import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G3, G10, G19: expiry, its windows, and clocks that are wrong.
@Suite struct ExpiryTests {
    @Test func `G3: in the ahead window requests use the current token while one refresh runs in the background`() {
        var script = MachineScript.signedIn()
        _ = script.passToAhead()
        #expect(script.machine.ready?.token(at: script.uptime) == nil)
        #expect(script.ask(1) == ["1: ada g0", "call g0"])
        #expect(script.ask(2) == ["2: ada g0"])
        _ = script.finish()
        #expect(script.ask(3) == ["3: ada g1"])
    }

    @Test func `G3: in the leeway requests wait, and get the token still valid where no refresh is available`() {
        var script = MachineScript.signedIn()
        #expect(script.ask(1, after: .seconds(3_539)) == ["1: ada g0"], "far from it no work starts")
        #expect(script.machine.ready?.token(at: script.uptime)?.generation == 0)
        #expect(script.ask(2, after: .seconds(56)) == ["call g0"])
        #expect(script.ask(3) == [], "for the same refresh")
        let busy = TokenRefreshError(.unavailable, retryAfter: .seconds(100))
        #expect(script.respond(busy) == ["2: ada g0", "3: ada g0"])
        #expect(script.ask(4) == ["4: ada g0"], "in the pause, too")
        #expect(script.ask(5, after: .seconds(10)) == ["5: refreshUnavailable"])
    }

    @Test func `G3: both windows shrink with a short lifetime, so that a new token is never refreshed at once`() {
        for lifetime in [.nanoseconds(1), .milliseconds(1), .seconds(1), .seconds(3), .seconds(10), .seconds(60)]
            as [Duration]
        {
            var script = MachineScript.signedIn(lifetime: lifetime)
            #expect(script.ask(1) == ["1: ada g0"])
            #expect(script.machine.ready?.token(at: script.uptime + lifetime / 2) != nil)
            var refreshed = MachineScript.refreshedOnce(lifetime: lifetime)
            #expect(refreshed.ask(2) == ["2: ada g1"])
        }
    }

    @Test func `G10: a token refused while just refreshed causes no refresh until its pause ends`() {
        var script = MachineScript.refreshedOnce()
        #expect(script.refused(1, generation: 1) == ["1: unauthorized"])
        for waiter in 2...20 { #expect(script.refused(waiter, generation: 1) == ["\(waiter): unauthorized"]) }
        #expect(script.ask(21) == ["21: ada g1"], "others go on using it")
        #expect(script.refused(22, generation: 1, after: .seconds(9)) == ["22: unauthorized"])
        #expect(script.refused(23, generation: 1, after: .seconds(1)) == ["call g1"])
    }

    @Test(arguments: [-30, -1, 1, 30])
    func `G19: setting the wall clock by days in either direction causes no refresh`(days: Int) {
        var script = MachineScript.signedIn()
        script.date += Double(days) * 86_400
        #expect(script.ask(1) == ["1: ada g0"])
        #expect(script.ask(2, after: .seconds(1_800)) == ["2: ada g0"])
        #expect(script.ask(3, serverDate: script.date) == ["3: ada g0"])
        #expect(script.machine.ready?.token(at: script.uptime) != nil)
    }

    @Test func `G19: a new token that looks expired to the device's clock is used until it is refused`() {
        let lifetimes = [-5, 0, .min, .max, 400 * 86_400] as [Int64]
        let odd = lifetimes.map { TokenRefreshResult(accessToken: "a", expiresIn: .seconds($0)) }
        let claims = [1_700_000_000, 1e300].map { TokenRefreshResult(accessToken: .jwt(exp: $0)) }
        for tokens in odd + claims {
            var script = MachineScript()
            _ = script.signIn(1, as: "ada", with: tokens, isStored: true)
            #expect(script.ask(2) == ["2: ada g0"])
            #expect(script.ask(3, after: .seconds(100_000)) == ["3: ada g0"])
        }
    }

    @Test func `G19: the first server date corrects the expiry of a stored or adopted token, and no later one does`() {
        var script = MachineScript()
        let serverNow = script.date
        var valid = script
        // The device's clock was set back by two days while the app was away; the token expired an hour ago.
        script.date -= 2 * 86_400
        let expired = TokenBundle.stored("ada", 4, expiresAt: serverNow - 3_600, clockSkew: 0.5)
        #expect(script.start(with: expired) == ["signed in ada", "1: ada g4"])
        #expect(script.ask(2, serverDate: serverNow) == ["call g4"])

        let stored = TokenBundle.stored("ada", 4, expiresAt: serverNow + 3_600, clockSkew: 0.5)
        #expect(valid.start(with: stored) == ["signed in ada", "1: ada g4"])
        _ = valid.send(.serverDateNoted(serverNow))
        #expect(valid.ask(2, serverDate: serverNow + 2 * 86_400) == ["2: ada g4"])

        // Until then it is read with the skew at its receipt.
        var skewed = MachineScript()
        let skew = -2 * 86_400.0
        let behind = TokenBundle.stored("ada", 4, expiresAt: serverNow + skew + 3_600, clockSkew: skew)
        #expect(skewed.start(with: behind) == ["signed in ada", "1: ada g4"])

        var adopted = MachineScript.signedIn(isShared: true)
        _ = adopted.changed(to: .active(.stored("ada", 1, expiresAt: serverNow + 3_600, clockSkew: 0.5)))
        #expect(adopted.ask(1) == ["1: ada g1"])
        #expect(adopted.ask(2, serverDate: serverNow + 2 * 86_400) == ["lease"])
    }

    @Test(arguments: [-2 * 86_400, 90, 2 * 86_400] as [TimeInterval])
    func `G19: an expiry that was counted on the device's clock is not read with the server's`(ahead: TimeInterval) {
        for isKnownBefore in [false, true] {
            var script = MachineScript()
            let stored = TokenBundle.stored("ada", 4, expiresAt: script.date + 100, receivedAt: script.date - 3_500)
            _ = script.ask(1)
            if isKnownBefore { _ = script.send(.serverDateNoted(script.date + ahead)) }
            #expect(script.loaded(.success(.active(stored))).contains("1: ada g4"))
            if !isKnownBefore { _ = script.send(.serverDateNoted(script.date + ahead)) }
            _ = script.respond(.unavailable)
            #expect(script.ask(2).first == "2: ada g4")
            #expect(script.ask(3, after: .seconds(101)).contains("3: ada g4") == false, "it has expired")
        }
    }

    @Test func `G19: the stored expiry and receipt are instants of the server's clock, by the latest date`() {
        for isSet in [false, true] {
            var script = MachineScript()
            let ahead = 2 * 86_400.0
            for ahead in [50, ahead] { _ = script.send(.serverDateNoted(script.date + ahead)) }
            _ = script.pass(.seconds(100))
            let serverNow = script.date + ahead
            if isSet { script.date -= 5 * 86_400 }
            _ = script.signIn(1, as: "bob", lifetime: .seconds(3_600))
            let stored = script.lastContent?.bundle
            #expect(stored?.expiresAt == serverNow + 3_600 && stored?.receivedAt == serverNow)
            #expect(stored?.lifetime == .seconds(3_600))
            #expect(stored?.clockSkew == serverNow.timeIntervalSince(script.date))
        }
        // So is the date in the response, for its own tokens, too.
        var dated = MachineScript()
        let serverNow = dated.date + 2 * 86_400
        let tokens = TokenRefreshResult(accessToken: "access-ada-0", expiresIn: .seconds(60), serverDate: serverNow)
        _ = dated.signIn(1, as: "ada", with: tokens)
        let stored = dated.lastContent?.bundle
        #expect(stored?.expiresAt == serverNow + 60 && stored?.clockSkew == 2 * 86_400)
    }

    @Test func `G19: the expiry of tokens that were received here does not follow the server's clock`() {
        var script = MachineScript()
        _ = script.send(.serverDateNoted(script.date + 0.5))
        _ = script.signIn(1, as: "bob", isStored: true)
        #expect(script.ask(2, serverDate: script.date + 2 * 86_400) == ["2: bob g0"])
        _ = script.refresh(3)
        _ = script.finish()
        #expect(script.ask(4, serverDate: script.date + 4 * 86_400) == ["4: bob g1"])

        var restored = MachineScript.started(with: .stored("ada", 4))
        #expect(restored.refresh(2) == ["call g4"])
        _ = restored.finish()
        #expect(restored.ask(3, serverDate: restored.date + 2 * 86_400) == ["3: ada g5"])
    }

    @Test func `G19: a clock set forward while the app was away costs one refresh and no more`() {
        var script = MachineScript()
        let expiresAt = script.date + 3_600
        script.date += 2 * 86_400
        #expect(script.start(with: .stored("ada", 4, expiresAt: expiresAt)) == ["signed in ada", "call g4"])
        _ = script.finish()
        for waiter in 2...50 { #expect(script.ask(waiter) == ["\(waiter): ada g5"]) }
        var running = MachineScript.signedIn(isShared: true)
        _ = running.send(.serverDateNoted(running.date))
        let adopted = TokenBundle.stored("ada", 1, expiresAt: running.date + 3_600, clockSkew: 0.5)
        running.date += 2 * 86_400
        #expect(running.refused(1, generation: 0, reading: adopted) == ["1: ada g1", "release"])
    }

    @Test(
        arguments: [-1e300, -2.01, -1.99, -1.5, -0.5, 0, 0.49, 0.51, 1.5, 1.99, 2.01, 1e19, .infinity],
        [0, 0.3, 7.5, 3e8])
    func `G19: the wall clock counts as set where it is two seconds off the monotonic one`(by: Double, after: Double) {
        let start = Instant(uptime: .seconds(5), date: Date(timeIntervalSince1970: 1_800_000_000.25))
        var clock = MachineClock(at: start)
        let steady = clock
        clock.advance(to: Instant(uptime: start.uptime + .seconds(after), date: start.date + after + by))
        #expect((clock == steady) == (by.magnitude < 2))
    }
}

extension String {
    /// An unsigned token with claims in JSON.
    static func jwt(claims: some Sequence<UInt8>) -> String {
        let payload = Data(claims).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return "e30.\(payload).c2ln"
    }

    static func jwt(exp: Double, iat: Double? = nil) -> String {
        jwt(claims: (iat.map { "{\"exp\":\(exp),\"iat\":\($0)}" } ?? "{\"exp\":\(exp)}").utf8)
    }
}
