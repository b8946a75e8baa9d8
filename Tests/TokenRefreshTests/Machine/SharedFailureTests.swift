import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// Rule 7: the pause after a failure, and that it was ambiguous, hold for every process and every later run.
@Suite struct SharedFailureTests {
    private let busy = TokenRefreshError(.unavailable, retryAfter: .seconds(20), status: 429)

    @Test func `G26: no number of a stored failure stops the process`() throws {
        let least = try JSONDecoder().decode(Duration.self, from: Data("[-9223372036854775808,0]".utf8))
        for pause in [least, .seconds(-1), .seconds(Int64.max)] {
            for ago in [-86_400, 0, 86_400] as [TimeInterval] {
                var script = MachineScript.started(with: .failed(pause, ago))
                let isPaused = pause > .zero && ago < 86_400
                #expect(script.refresh(2) == (isPaused ? ["2: refreshUnavailable"] : ["call g0"]), "\(ago)")
            }
        }
        for count in [Int.max, Int.min] {
            let stored = TokenBundle.failed(.zero, 60, isAmbiguous: true, status: 400, count: count)
            var script = MachineScript.started(with: stored)
            _ = script.refresh(2)
            let texts = script.respond(TokenRefreshError(.ambiguous, status: 400))
            #expect(texts.contains("2: refreshUnavailable"), "\(count)")
        }
    }

    // MARK: What is stored

    @Test(arguments: [false, true])
    func `G6: a failure with a whole response is stored with its pause, under the lease`(isShared: Bool) throws {
        var script = MachineScript.calling(isShared: isShared)
        script.recordsIntents = false
        #expect(script.respond(busy) == ["1: refreshUnavailable", "failed ada g0"])
        let failure = try #require(script.lastIntent?.failure)
        #expect(failure.pause == .seconds(20) && failure.date == script.date && failure.status == 429)
        #expect(script.lastIntent?.idempotencyKey == script.key)
        #expect(script.wrote() == (isShared ? ["release"] : []))
    }

    @Test func `G6, G12: a failure of a late response is stored, and one without a whole response is not`() {
        var script = MachineScript.refreshing()
        script.recordsIntents = false
        var lost = script
        #expect(lost.respond(.unavailable) == ["1: refreshUnavailable"], "the server may have rotated")
        #expect(script.respond(busy, after: .seconds(31)) == ["failed ada g0"])
        #expect(script.refresh(2, after: .seconds(17)) == ["2: refreshUnavailable"])
    }

    // MARK: What a process finds

    @Test(arguments: [false, true])
    func `G6: a process that starts in the pause of an earlier one waits, and then calls with its key`(isShared: Bool) {
        var script = MachineScript.started(isShared: isShared, with: .failed(.seconds(20), 5))
        #expect(script.refused(2, generation: 0) == ["2: refreshUnavailable"])
        #expect(script.refresh(3, after: .seconds(15)) == [isShared ? "lease" : "call g0"])
        if isShared {
            let stored = TokenBundle.failed(.seconds(20), 20, at: script.date)
            #expect(script.leased(reading: stored, ownerMayCall: true) == ["call g0"])
        }
        #expect(script.key == "key")
        _ = script.finish()
        let end = script.machine.current?.expiry.end
        #expect(end == script.uptime + .seconds(3_600), "G19: the call that was refused has not brought these tokens")
    }

    @Test func `G6: under the lease the pause of another process is observed, and no call is made`() {
        var script = MachineScript.refreshing(isShared: true)
        #expect(script.leased(reading: .failed(.seconds(20), at: script.date)) == ["1: refreshUnavailable", "release"])
        #expect(script.machine.status.lastFailure?.status == 429)
        #expect(script.refresh(2, after: .seconds(17)) == ["2: refreshUnavailable"])
        #expect(script.refresh(3, after: .seconds(3)) == ["lease"])
        // Where it is over, a living owner whose call has failed is not waited for.
        let over = TokenBundle.failed(.seconds(1), 1, at: script.date)
        #expect(script.leased(reading: over, ownerMayCall: true) == ["call g0"])
        var rest = MachineScript.refreshing(isShared: true)
        let failed = TokenBundle.failed(.seconds(5), 4.75, at: rest.date, status: 503)
        #expect(rest.leased(reading: failed) == ["1: refreshUnavailable", "release"])
        #expect(rest.refresh(2, after: .milliseconds(300)) == ["lease"], "no new pause begins")
    }

    @Test func `G6: a check shows the pause of another process, and requests that were sent before share it`() {
        var script = MachineScript.signedIn(isShared: true)
        let refusal = TokenRefusal(of: script.token(0))
        #expect(script.changed(to: .active(.failed(.seconds(20), at: script.date))) == [])
        #expect(script.refused(1, refusal) == ["1: refreshUnavailable"])
        var longer = MachineScript.calling()
        _ = longer.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(60), status: 503))
        _ = longer.changed(to: .active(.failed(.seconds(5), at: longer.date, status: 503)))
        #expect(longer.refresh(2, after: .seconds(10)) == ["2: refreshUnavailable"], "no longer pause is shortened")
    }

    @Test(arguments: [Duration.seconds(86_400), .seconds(Int64.max)])
    func `G19: a stored pause is no longer than the longest that is honoured`(pause: Duration) {
        var script = MachineScript.started(with: .failed(pause, -86_400))
        #expect(script.refresh(2, after: .seconds(297)) == ["2: refreshUnavailable"])
        #expect(script.refresh(3, after: .seconds(3)) == ["call g0"])
    }

    @Test(arguments: [-86_400, 86_400] as [TimeInterval])
    func `G4, G19: a clock that is set ends no pause after an ambiguous refusal, and repeats none`(by: TimeInterval) {
        var script = MachineScript.refreshing(isShared: true)
        let stored = TokenBundle.failed(.seconds(30), 1, at: script.date, isAmbiguous: true, status: 401)
        script.date += by
        #expect(script.leased(reading: stored) == ["1: refreshUnavailable", "release"])
        #expect(script.refresh(2) == ["2: refreshUnavailable"])
        #expect(script.refresh(3, after: .seconds(30)) == ["lease"])
    }

    @Test func `G6, G19: after a clock was set, it says how long ago a later failure was`() {
        var script = MachineScript.signedIn(isShared: true)
        script.date -= 86_400
        _ = script.ask(1)
        _ = script.pass(.seconds(10))
        #expect(script.changed(to: .active(.failed(.seconds(20), 5, at: script.date))) == [])
        #expect(script.refresh(2, after: .seconds(15)) == ["lease"])
    }

    @Test(arguments: [(30, 40, true), (1, 2, false)])
    func `G4: an ambiguous refusal of an earlier run is repeated by this one, but for one of a moment ago`(
        pause: Int, ago: Int, isRepeated: Bool
    ) {
        let stored = TokenBundle.failed(.seconds(pause), TimeInterval(ago), isAmbiguous: true, status: 401)
        var script = MachineScript.started(with: stored)
        #expect(script.refresh(2) == ["call g0"])
        let actions = script.respond(TokenRefreshError(.ambiguous, status: 401))
        #expect(actions == (isRepeated ? ["reread"] : ["2: refreshUnavailable"]))
    }

    @Test func `G4: refusals are counted over several runs`() throws {
        let unknown = TokenRefreshError(.ambiguous, status: 400, serverCode: "AUTH_004")
        var script = MachineScript.refreshing(for: .refresh)
        for run in 2...3 {
            #expect(script.respond(unknown).contains("reread") == false)
            let stored = try #require(script.lastContent?.bundle)
            #expect(stored.refreshIntent?.failure?.count == run - 1)
            let (uptime, date) = (script.uptime, script.date + 400)
            script = MachineScript()
            (script.uptime, script.date) = (uptime / 2, date)
            _ = script.restore(1)
            _ = script.loaded(.success(.active(stored)))
            #expect(script.refresh(run) == ["call g0"])
        }
        #expect(script.respond(unknown) == ["reread"])
    }

    @Test func `G6: a request that was sent before a failure shares it, however late it is refused`() {
        var script = MachineScript.signedIn()
        let early = TokenRefusal(of: script.token(0))
        _ = script.refused(1, generation: 0)
        _ = script.respond(TokenRefreshError(.unavailable, status: 503))
        #expect(script.refused(2, early, after: .seconds(20)) == ["2: refreshUnavailable"])
        guard case .failed(let error)? = script.responses[2] else { return }
        #expect(error.retryAfter == TokenRefreshPolicy().backoff.floor, "who asks again is not told to do so at once")
        #expect(script.refused(3, TokenRefusal(of: script.token(0))) == ["call g0"], "it was sent after it")
    }
}
