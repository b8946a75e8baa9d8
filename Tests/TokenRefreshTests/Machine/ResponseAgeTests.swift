import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G19: the life of a token counts from the sending of the call that brought it.
@Suite struct ResponseAgeTests {
    /// A process that has received a token of some lifetime after a while.
    private func received(after wait: Duration, lifetime: Duration) -> MachineScript {
        var script = MachineScript.refreshing()
        #expect(script.respond(lifetime: lifetime, after: wait) == ["save ada g1"])
        return script
    }

    @Test func `G19: a token that came late is refreshed as early as one that came at once`() {
        var script = received(after: .seconds(20), lifetime: .seconds(100))
        #expect(script.lastContent?.bundle?.expiresAt == script.date + 80, "the store has that, too")
        #expect(script.lastContent?.bundle?.lifetime == .seconds(100))
        #expect(script.wrote() == ["1: ada g1"])
        #expect(script.ask(2, after: .seconds(54)) == ["2: ada g1"])
        // Between a quarter and a twentieth of its life each session starts at an age of its own (G33).
        _ = script.pass(.seconds(1) + TokenBundle.stored("ada", 1).refreshDelay(within: .seconds(20)))
        #expect(script.ask(3) == ["3: ada g1", "call g1"])
    }

    @Test(arguments: [true, false])
    func `G19: the delay of a late response is not taken off the expiry in it a second time`(isClockKnown: Bool) {
        var script = MachineScript.refreshing()
        let sent = script.date
        if isClockKnown { _ = script.send(.serverDateNoted(sent)) }
        _ = script.pass(.seconds(20))
        // Issued at once, and held back on the way or by the server, which dates what it sends.
        let tokens = TokenRefreshResult(
            accessToken: "access-ada-1", refreshToken: "refresh-ada-1", expiresAt: sent + 30, serverDate: script.date)
        #expect(script.respond(tokens) == ["save ada g1"])
        // Where no date before it tells the server's time, the token may have been issued as late as the response.
        #expect(script.wrote() == (isClockKnown ? ["1: ada g1"] : []))
    }

    @Test func `G19: requests that wait for a token which has expired on arrival get the next one`() {
        var script = received(after: .seconds(20), lifetime: .seconds(15))
        #expect(script.wrote() == [])
        #expect(script.pass(.seconds(1)) == ["call g1"])
        #expect(script.finish() == ["1: ada g2"])
    }

    @Test func `G10: a refusal of a token that was old when it came is no loop`() {
        var script = received(after: .seconds(28), lifetime: .seconds(40))
        _ = script.wrote()
        #expect(script.refused(2, generation: 1, after: .seconds(2)) == ["call g1"])
    }

    @Test func `G6: tokens that all expire on their way are requested with growing pauses`() {
        var script = MachineScript.refreshing()
        var calls: [Duration] = []
        for waiter in 2..<300 {
            _ = script.finish(lifetime: .milliseconds(1), after: .milliseconds(600))
            if (script.ask(waiter) + script.pass(.milliseconds(400))).contains(where: { $0.hasPrefix("call") }) {
                calls.append(script.uptime)
            }
        }
        #expect((4...25).contains(calls.count), "\(calls)")
    }

    // MARK: Replays

    /// A process that has called with the key of an earlier one's intent, of so many seconds after the start.
    private func replaying(date: TimeInterval, firstDate: Date? = nil) -> MachineScript {
        let intent = RefreshIntent(
            idempotencyKey: "key", owner: .rival, date: MachineScript.start + date, firstDate: firstDate)
        var script = MachineScript.started(with: .stored("ada", 0).with(refreshIntent: intent))
        #expect(script.refused(2, generation: 0) == ["call g0"])
        #expect(script.key == "key")
        return script
    }

    @Test(arguments: [(-100, nil), (-20, -100)] as [(TimeInterval, TimeInterval?)])
    func `G19: the token of a replay counts from the first intent`(date: TimeInterval, firstDate: TimeInterval?) {
        let first = MachineScript.start - 100
        var script = replaying(date: date, firstDate: firstDate.map { MachineScript.start + $0 })
        #expect(script.lastIntent?.firstDate == first && script.lastIntent?.date == script.date)
        #expect(script.finish(lifetime: .seconds(90)) == [])
        #expect(script.pass(.seconds(1)) == ["call g1"])
        #expect(script.finish(lifetime: .seconds(90)) == ["2: ada g2"], "which is no replay")
    }

    /// A call with a key that another process has used since counts from that one's call. Where the clock was set
    /// since, it counts from the instant at which the key was made here: nothing makes it older.
    @Test(
        arguments: [
            (0, 0, 190, true), (-30 * 86_400, 0, 190, true), (30 * 86_400, 0, 210, false),
            (0, -30 * 86_400, 210, false),
        ] as [(TimeInterval, TimeInterval, Int, Bool)])
    func `G19: a call counts from another process's with its key, and never from before the key`(
        clockSetBy step: TimeInterval, firstDate: TimeInterval, lifetime: Int, isOver: Bool
    ) throws {
        var script = MachineScript.recording()
        let own = try #require(script.lastIntent)
        // It is stored after its limit, and another process calls with its key.
        _ = script.storeFails()
        let foreign = RefreshIntent(
            idempotencyKey: own.idempotencyKey, owner: .rival, date: script.date + 1, firstDate: own.date + firstDate)
        _ = script.pass(.seconds(200))
        script.date += step
        _ = script.refused(2, generation: 0)
        #expect(script.leased(reading: .stored("ada", 0).with(refreshIntent: foreign)) == ["intent ada g0"])
        #expect(script.wrote() == ["call g0"])
        #expect(script.key == own.idempotencyKey)
        #expect(script.finish(lifetime: .seconds(lifetime)).contains("2: ada g1") != isOver)
    }

    @Test(arguments: [(nil, false), (429, true), (500, false), (503, true)] as [(Int?, Bool)])
    func `G19: a token counts from a lost call, unless its status proves no exchange`(status: Int?, isNew: Bool) {
        var script = MachineScript.refreshing()
        _ = script.respond(TokenRefreshError(.unavailable, status: status))
        #expect(script.refused(2, generation: 0, after: .seconds(100)) == ["call g0"])
        #expect(script.finish(lifetime: .seconds(90)) == (isNew ? ["2: ada g1"] : []))
    }

    @Test(arguments: [-86_400.0, 86_400])
    func `G19: an intent of another time causes one refresh at most`(ahead: TimeInterval) {
        var script = replaying(date: ahead)
        _ = script.respond()
        let calls = script.wrote() + script.pass(.seconds(2))
        #expect(calls == (ahead < 0 ? ["call g1"] : ["2: ada g1"]))
        guard ahead < 0 else { return }
        #expect(script.finish() == ["2: ada g2"])
    }

    @Test func `G19: the date of a response that was slept through does not turn back the server's clock`() {
        var script = MachineScript.signedIn()
        _ = script.send(.serverDateNoted(script.date))
        _ = script.refused(1, generation: 0)
        let date = script.date
        _ = script.sleep(.seconds(100))
        let tokens = TokenRefreshResult(
            accessToken: "access-ada-1", refreshToken: "refresh-ada-1", expiresIn: .seconds(150), serverDate: date
        )
        _ = script.respond(tokens, isStored: true)
        #expect(script.machine.current?.bundle.expiresAt == date + 150)
    }
}
