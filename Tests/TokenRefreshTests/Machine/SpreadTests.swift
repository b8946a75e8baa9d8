import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// G33: refreshes do not march in step, and none that is not urgent starts right after a wake.
@Suite struct SpreadTests {
    private let hour = Duration.seconds(3_600)

    private func expiry(_ bundle: TokenBundle) -> Expiry {
        Expiry(of: bundle, lifetime: hour, at: .zero, policy: TokenRefreshPolicy())
    }

    @Test func `G33: each session starts its refresh at an age of its own within the ahead window`() throws {
        var ages: [Int: Int] = [:]
        for number in 0..<4_800 {
            let expiry = expiry(.stored("session-\(number)", 0))
            let start = try #require(expiry.aheadFrom)
            // 60 s and 5 s before the end, and seven eighths of the 55 s between the two.
            #expect(start >= hour - .seconds(60) && start < hour - .seconds(60) + .milliseconds(48_125))
            #expect(expiry.leewayFrom == hour - .seconds(5), "the leeway does not move")
            ages[Int(start / .seconds(1)), default: 0] += 1
        }
        let policy = TokenRefreshPolicy.with { $0.ahead = .zero }
        let narrow = Expiry(of: .stored("ada", 0), lifetime: hour, at: .zero, policy: policy)
        #expect(narrow.aheadFrom == narrow.leewayFrom, "a window no longer than the leeway leaves nothing to move")
        #expect(ages.count == 49)
        #expect(ages.values.max() ?? 0 < 140, "100 sessions a second, and not all of them in one")
    }

    @Test func `G33: the share is that of session and generation, in every process and every version`() {
        let time = Duration.seconds(65_536) / 7 * 8
        func share(_ session: String, _ generation: Int) -> Int {
            Int((TokenBundle.stored(session, generation).refreshDelay(within: time) / .seconds(1)).rounded())
        }
        #expect(share("ada", 0) == 16_086)
        #expect(share("ada", 1) == 25_441)
        #expect(share("bob", 0) == 60_534)
        #expect(share("6F9619FF-8B86-D011-B42D-00C04FC964FF", 7) == 1_760)
    }

    @Test func `G33: a process that restores or adopts a token starts its refresh at the same age`() {
        for generation in 0..<100 {
            let date = MachineScript.start
            let token = TokenBundle.stored("ada", generation, expiresAt: date + 3_600, receivedAt: date)
            let now = Instant(uptime: .seconds(500), date: date + 500)
            #expect(MachineClock(at: now).expiry(ofStored: token) == expiry(token))
        }
    }

    // MARK: After a wake

    /// A script in which the device sleeps until the token is to be refreshed in the background.
    private func woken(after sleep: Duration = .seconds(600)) -> MachineScript {
        var script = MachineScript.signedIn(policy: .with { $0.ahead = .seconds(600) })
        _ = script.passToAhead()
        script.asleep += sleep
        return script
    }

    @Test func `G33: right after a wake no refresh starts in the background, and the token is used`() {
        var script = woken()
        #expect(script.ask(1) == ["1: ada g0"])
        #expect(script.machine.ready?.token(at: script.uptime + .milliseconds(9_999)) != nil, "no event is needed")
        #expect(script.machine.ready?.token(at: script.uptime + .seconds(10)) == nil)
        #expect(script.ask(2, after: .milliseconds(9_999)) == ["2: ada g0"])
        #expect(script.ask(3, after: .milliseconds(1)) == ["3: ada g0", "call g0"])
    }

    @Test func `G33: a refresh that requests wait for starts right after a wake`() {
        var refused = woken()
        #expect(refused.refused(1, generation: 0) == ["call g0"])
        var wanted = woken()
        #expect(wanted.refresh(1) == ["call g0"])
        var due = MachineScript.signedIn()
        _ = due.pass(.seconds(3_595))
        due.asleep += .seconds(600)
        #expect(due.ask(1) == ["call g0"])
    }

    @Test func `G33: a moment is no sleep, nor is a sleep before the engine was made`() {
        var script = woken(after: .milliseconds(999))
        #expect(script.ask(1) == ["1: ada g0", "call g0"])
        var later = MachineScript()
        later.asleep = .seconds(86_400)
        let stored = TokenBundle.stored("ada", 4, expiresAt: later.date + 6, receivedAt: later.date - 3_594)
        #expect(later.start(with: stored) == ["signed in ada", "1: ada g4", "call g4"])
    }

    @Test func `G33: a process that was stopped during a call has woken, too`() {
        var script = MachineScript.signedIn(
            policy: .with {
                $0.backoff = Backoff(base: .seconds(1), limit: .seconds(1), floor: .seconds(1))
                $0.ahead = .seconds(600)
            })
        _ = script.passToAhead()
        #expect(script.ask(1) == ["1: ada g0", "call g0"])
        _ = script.sleep(.seconds(118))
        #expect(script.respond(.unavailable) == [])
        #expect(script.ask(2, after: .milliseconds(9_999)) == ["2: ada g0"])
        #expect(script.ask(3, after: .milliseconds(1)) == ["3: ada g0", "call g0"])
    }

    /// The refreshes of a session that is signed in at a millisecond of the first second, and has a request a second.
    /// The first request in the ahead window starts each, and each token counts from the one before.
    private func refreshes(ofSession number: Int, until end: Duration) -> [Duration] {
        let signIn = Duration.milliseconds(number)
        var requests: [Duration] = []
        var sent = signIn
        while true {
            let bundle = TokenBundle.stored("session-\(number)", requests.count)
            let expiry = Expiry(of: bundle, lifetime: .seconds(600), at: sent, policy: TokenRefreshPolicy())
            let age = ((expiry.aheadFrom ?? end) - signIn) / .seconds(1)
            sent = signIn + .seconds(Int(age.rounded(.up)))
            guard sent < end else { return requests }
            requests.append(sent)
        }
    }

    @Test func `S26: 1,000 sessions that were signed in within one second: no second has more than 50 refreshes`() {
        var counts: [Int: Int] = [:]
        for number in 0..<1_000 {
            let requests = refreshes(ofSession: number, until: .seconds(86_400))
            // At most one refresh in each usable lifetime, which is 540 s (G3, S14).
            #expect((144...160).contains(requests.count), "session \(number): \(requests.count)")
            for request in requests { counts[Int(request / .seconds(1)), default: 0] += 1 }
        }
        #expect(counts.values.max() ?? 0 <= 50)
    }
}
