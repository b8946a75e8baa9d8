import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// Rule 7: the pause after a failure, and that it was ambiguous, hold for every process and every later run.
@Suite struct SharedFailureTests {
    private let other = ProcessIdentity(host: "host", process: "p2")
    private let busy = TokenRefreshError(.unavailable, retryAfter: .seconds(20), status: 429)

    /// A session whose refresh another process has tried, and the failure that it has stored.
    private func failed(
        _ pause: Duration, _ ago: TimeInterval = 0, at date: Date, isAmbiguous: Bool = false, status: Int = 429
    ) -> TokenBundle {
        let failure = RefreshIntent.Failure(date: date - ago, pause: pause, isAmbiguous: isAmbiguous, status: status)
        return .stored("ada", 0).with(
            refreshIntent: RefreshIntent(idempotencyKey: "key", owner: other, date: date - ago - 1, failure: failure))
    }

    /// A process that starts with a stored session.
    private func started(isShared: Bool = false, with bundle: (Date) -> TokenBundle) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        _ = script.loaded(.success(.active(bundle(script.date))))
        return script
    }

    @Test func `G26: no number of a stored failure stops the process`() throws {
        let least = try JSONDecoder().decode(Duration.self, from: Data("[-9223372036854775808,0]".utf8))
        for pause in [least, .seconds(-1), .seconds(Int64.max)] {
            for ago in [-86_400, 0, 86_400] as [TimeInterval] {
                var script = started { failed(pause, ago, at: $0) }
                let isPaused = pause > .zero && ago < 86_400
                #expect(script.refresh(2) == (isPaused ? ["2: refreshUnavailable"] : ["call g0"]), "\(ago)")
            }
        }
        for count in [Int.max, Int.min] {
            var script = started { date in
                var failure = RefreshIntent.Failure(date: date - 60, pause: .zero, isAmbiguous: true, status: 400)
                failure.count = count
                return .stored("ada", 0).with(
                    refreshIntent: RefreshIntent(
                        idempotencyKey: "key", owner: other, date: date - 61, failure: failure))
            }
            _ = script.refresh(2)
            _ = script.wrote()
            let error = TokenRefreshError(.ambiguous, reason: "", status: 400, statusMeansExpired: false)
            #expect(script.respond(error).contains("2: refreshUnavailable"), "\(count)")
        }
    }

    // MARK: What is stored

    @Test(arguments: [false, true])
    func `G6: a failure with a whole response is stored with its pause, and the lease stays until then`(isShared: Bool)
        throws
    {
        var script = MachineScript.calling(isShared: isShared)
        script.recordsIntents = false
        #expect(script.respond(busy) == ["1: refreshUnavailable", "failed ada g0"])
        let intent = try #require(script.lastContent?.bundle?.refreshIntent)
        #expect(intent.failure?.pause == .seconds(20))
        #expect(intent.failure?.date == script.date)
        #expect(intent.failure?.status == 429)
        #expect(intent.idempotencyKey == script.lastRequest?.idempotencyKey)
        #expect(script.wrote() == (isShared ? ["release"] : []))
    }

    @Test func `G12: a failure without a whole response is not stored, as the server may have rotated`() {
        var script = MachineScript.refreshing()
        script.recordsIntents = false
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable"])
    }

    @Test func `G6: a pause that a late response requests is observed, and stored`() {
        var script = MachineScript.refreshing()
        _ = script.pass(.seconds(31))
        script.recordsIntents = false
        #expect(script.respond(busy) == ["failed ada g0"])
        _ = script.pass(.seconds(17))
        #expect(script.refresh(2) == ["2: refreshUnavailable"])
    }

    // MARK: What a process finds

    @Test(arguments: [false, true])
    func `G6: a process that starts in the pause of an earlier one waits, and then calls with its key`(isShared: Bool) {
        var script = started(isShared: isShared) { failed(.seconds(20), 5, at: $0) }
        #expect(script.refused(2, generation: 0) == ["2: refreshUnavailable"])
        _ = script.pass(.seconds(15))
        #expect(script.refresh(3) == [isShared ? "lease" : "call g0"])
        if isShared {
            #expect(
                script.leased(reading: failed(.seconds(20), 20, at: script.date), ownerMayCall: true) == ["call g0"])
        }
        #expect(script.lastRequest?.idempotencyKey == "key")
    }

    @Test func `G6: under the lease the pause of another process is observed, and no call is made`() {
        var script = MachineScript.refreshing(isShared: true)
        #expect(script.leased(reading: failed(.seconds(20), at: script.date)) == ["1: refreshUnavailable", "release"])
        #expect(script.machine.status.lastFailure?.status == 429)
        _ = script.pass(.seconds(17))
        #expect(script.refresh(2) == ["2: refreshUnavailable"])
        _ = script.pass(.seconds(3))
        #expect(script.refresh(3) == ["lease"])
    }

    @Test func `G6: a check shows the pause of another process, and requests that were sent before share it`() {
        var script = MachineScript.signedIn(isShared: true)
        let refusal = TokenRefusal(of: script.token(0))
        #expect(script.changed(to: .active(failed(.seconds(20), at: script.date))) == [])
        #expect(script.refused(1, refusal) == ["1: refreshUnavailable"])
    }

    @Test func `Rule 7: a living owner whose call has failed is not waited for`() {
        var script = MachineScript.refreshing(isShared: true)
        _ = script.leased()
        let bundle = failed(.seconds(1), 1, at: script.date)
        #expect(script.reread(bundle, ownerMayCall: true) == ["call g0"])
    }

    @Test(arguments: [Duration.seconds(86_400), .seconds(Int64.max)])
    func `G19: a stored pause is no longer than the longest that is honoured`(pause: Duration) {
        var script = started { failed(pause, -86_400, at: $0) }
        _ = script.pass(.seconds(297))
        #expect(script.refresh(2) == ["2: refreshUnavailable"])
        _ = script.pass(.seconds(3))
        #expect(script.refresh(3) == ["call g0"])
    }

    @Test(arguments: [-86_400, 86_400] as [TimeInterval])
    func `G4, G19: a clock that is set ends no pause after an ambiguous refusal, and repeats none`(by: TimeInterval) {
        var script = MachineScript.refreshing(isShared: true)
        let stored = failed(.seconds(30), 1, at: script.date, isAmbiguous: true, status: 401)
        script.date += by
        #expect(script.leased(reading: stored) == ["1: refreshUnavailable", "release"])
        #expect(script.refresh(2) == ["2: refreshUnavailable"])
        _ = script.pass(.seconds(30))
        #expect(script.refresh(3) == ["lease"])
    }

    @Test func `G6, G19: after a clock was set, it says how long ago a later failure was`() {
        var script = MachineScript.signedIn(isShared: true)
        script.date -= 86_400
        _ = script.ask(1)
        _ = script.pass(.seconds(10))
        #expect(script.changed(to: .active(failed(.seconds(20), 5, at: script.date))) == [])
        _ = script.pass(.seconds(15))
        #expect(script.refresh(2) == ["lease"])
    }

    @Test func `G4: an ambiguous refusal of an earlier run is repeated by this one`() {
        var script = started { failed(.seconds(30), 40, at: $0, isAmbiguous: true, status: 401) }
        #expect(script.refresh(2) == ["call g0"])
        #expect(script.respond(TokenRefreshError(.ambiguous, status: 401)) == ["reread"])
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
            _ = script.send(.requested(.restore, WaiterID(number: 1)))
            _ = script.loaded(.success(.active(stored)))
            #expect(script.refresh(run) == ["call g0"])
        }
        #expect(script.respond(unknown) == ["reread"])
    }

    // MARK: Requests of the same outage

    /// Twenty seconds after a failure, and the refusal of a request that was sent before it.
    private func afterFailure() -> (script: MachineScript, early: TokenRefusal) {
        var script = MachineScript.signedIn()
        let early = TokenRefusal(of: script.token(0))
        _ = script.refused(1, generation: 0)
        _ = script.respond(TokenRefreshError(.unavailable, status: 503))
        _ = script.pass(.seconds(20))
        return (script, early)
    }

    @Test func `G6: a request that was sent before a failure shares it, however late it is refused`() {
        var (script, early) = afterFailure()
        #expect(script.refused(2, early) == ["2: refreshUnavailable"])
        #expect(script.refused(3, TokenRefusal(of: script.token(0))) == ["call g0"], "it was sent after it")
    }

    @Test func `G6: who asks again with a token that shares a failure is not told to do so at once`() throws {
        var (script, early) = afterFailure()
        let actions = script.machine.handle(
            .requested(.replacement(early), WaiterID(number: 2)),
            at: Instant(uptime: script.uptime, date: script.date))
        let errors = actions.compactMap { if case .respond(_, .failed(let error)) = $0 { error } else { nil } }
        #expect(errors.map(\.retryAfter) == [TokenRefreshPolicy().backoff.floor])
    }
}
