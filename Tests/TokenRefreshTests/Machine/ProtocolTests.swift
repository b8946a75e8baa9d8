import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G12, G13, G27: the protocol between processes, rule by rule.
@Suite struct ProtocolTests {
    @Test func `G27: the intent is stored before the call, with the key that the call carries`() throws {
        for isShared in [false, true] {
            var script = MachineScript.signedIn(isShared: isShared)
            script.recordsIntents = false
            #expect(script.refused(1, generation: 0, reading: .stored("ada", 0)) == ["intent ada g0"])
            let recorded = try #require(script.lastIntent)
            #expect(script.wrote() == ["call g0"])
            #expect(script.key == recorded.idempotencyKey && script.key?.count == 32)
            #expect(script.respond() == ["save ada g1"])
            #expect(script.lastIntent == nil)
        }
    }

    @Test func `G12: one key until a response has been applied, and a new one after that`() {
        var script = MachineScript.refreshing()
        let key = script.key
        for _ in 1...3 {
            _ = script.respond(.unavailable)
            #expect(script.refused(2, generation: 0, after: .seconds(60)) == ["call g0"])
            #expect(script.key == key && script.lastRequest?.refreshToken == "refresh-ada-0")
        }
        _ = script.finish()
        #expect(script.refused(3, generation: 1, after: .seconds(60)) == ["call g1"])
        #expect(script.key != key)
    }

    @Test func `G12: where the server tolerates it, a call whose response is lost is replayed once at once`() {
        for tolerance in [ReplayTolerance.sameKey, .within(.seconds(10))] {
            var script = MachineScript.refreshing(tolerance: tolerance)
            let key = script.key
            #expect(script.respond(.unavailable) == ["call g0"])
            #expect(script.key == key)
            #expect(script.respond(.unavailable) == ["1: refreshUnavailable"])
        }
        for error in [TokenRefreshError(.unavailable, status: 503), .init(.ambiguous), .init(.ambiguous, status: 401)] {
            var script = MachineScript.refreshing(tolerance: .sameKey)
            #expect(script.respond(error) == ["1: refreshUnavailable"], "the server has responded: \(error)")
        }
        var late = MachineScript.refreshing(tolerance: .within(.seconds(10)))
        #expect(late.respond(.unavailable, after: .seconds(10)) == ["1: refreshUnavailable"])
    }

    /// An attempt under the lease, and ada's tokens with the intent of another process of some seconds ago.
    private func meeting(
        tolerance: ReplayTolerance = .none, age: TimeInterval, isAbandoned: Bool = false, longestCall: Duration? = nil,
        owner: ProcessIdentity = .rival
    ) -> (script: MachineScript, stored: TokenBundle) {
        var script = MachineScript.signedIn(isShared: true, tolerance: tolerance)
        _ = script.pass(.seconds(max(age, 0) + 10))
        let intent = RefreshIntent(
            idempotencyKey: "key-1", owner: owner, date: script.date - age, longestCall: longestCall,
            isAbandoned: isAbandoned)
        #expect(script.refused(1, generation: 0) == ["lease"])
        return (script, TokenBundle.stored("ada", 0).with(refreshIntent: intent))
    }

    /// The call that may be under way is waited for, and after so many seconds made again.
    private func expectWait(
        _ seconds: Int, _ script: inout MachineScript, over stored: TokenBundle, ownerMayCall: Bool = false
    ) {
        let first = script.leased(reading: stored, ownerMayCall: ownerMayCall)
        #expect(first == ["1: refreshUnavailable", "release"])
        #expect(script.pass(.seconds(seconds - 10)) == [])
        #expect(script.refused(2, generation: 0) == ["2: refreshUnavailable"])
        #expect(script.refused(3, generation: 0, after: .seconds(10)) == ["lease"])
        let second = script.leased(reading: stored, ownerMayCall: ownerMayCall)
        #expect(second == ["call g0"] && script.key == "key-1")
    }

    @Test func `Rule 4: the call of a live owner is waited for, unless the server tolerates a second call`() {
        for (tolerance, isAbandoned) in [(ReplayTolerance.none, true), (.within(.seconds(5)), true), (.none, false)] {
            var (script, stored) = meeting(tolerance: tolerance, age: 20, isAbandoned: isAbandoned)
            expectWait(100, &script, over: stored, ownerMayCall: !isAbandoned)
        }
        for (tolerance, isAbandoned, mayCall) in [
            (ReplayTolerance.sameKey, true, true), (.within(.seconds(30)), true, true), (.none, false, false),
        ] {
            var (script, stored) = meeting(tolerance: tolerance, age: 20, isAbandoned: isAbandoned)
            var actions = script.leased(reading: stored, ownerMayCall: mayCall)
            if mayCall {
                #expect(actions == ["mark ada g0"], "the intent says that two calls may be under way")
                actions = script.wrote()
            }
            #expect(actions == ["call g0"])
            #expect(script.key == "key-1")
        }
    }

    @Test func `SE8: a call is waited for as long as the limits of its owner say, for half an hour at most`() {
        let day = 86_400.0
        let rows: [(age: TimeInterval, limit: Duration?, waited: Int)] = [
            (0, .seconds(300), 300), (0, .seconds(60), 60), (0, .seconds(day), 1_800), (0, nil, 120),
            // The wait ends by the monotonic clock, and not by the date of the intent.
            (-30 * day, nil, 120),
        ]
        for (age, limit, waited) in rows {
            var (script, stored) = meeting(age: age, isAbandoned: true, longestCall: limit)
            expectWait(waited, &script, over: stored)
        }
        #expect(MachineScript.refreshing().lastIntent?.longestCall == .seconds(120))
    }

    @Test func `Rule 4: a success that cannot be read has spent the token, and is replayed or long not repeated`() {
        let error = TokenRefreshError(.unavailable, status: 200)
        var tolerant = MachineScript.refreshing(tolerance: .sameKey)
        #expect(tolerant.respond(error) == ["call g0"])
        for var script in [MachineScript.refreshing(tolerance: .none), tolerant] {
            #expect(script.respond(error).first == "1: refreshUnavailable")
            let pause = script.lastIntent?.failure?.pause
            #expect(pause ?? .zero >= TokenRefreshPolicy().ambiguityCooldown)
        }
    }

    @Test func `Rule 4: a tolerated call has the date, the limit and the window of the call that it repeats`() {
        var (script, stored) = meeting(tolerance: .within(.seconds(60)), age: 40)
        #expect(script.leased(reading: stored, ownerMayCall: true) == ["mark ada g0"])
        #expect(script.lastIntent?.date == stored.refreshIntent?.date)
        #expect(script.wrote() == ["call g0"])
        for (passed, isReplayed) in [(19, true), (20, false)] {
            var lost = script
            #expect(lost.respond(.unavailable, after: .seconds(passed)).contains("call g0") == isReplayed)
        }
        #expect(script.pass(.seconds(79)).filter { $0.hasPrefix("cancel") } == [])
        #expect(script.pass(.seconds(1)).filter { $0.hasPrefix("cancel") }.count == 1)
    }

    @Test(arguments: [ReplayTolerance.none, .within(.seconds(30))])
    func `Rule 4: a call is waited for by the monotonic clock where a wall clock is wrong`(tolerance: ReplayTolerance) {
        let otherHost = ProcessIdentity(host: "another host", process: "p2")
        var (script, stored) = meeting(tolerance: tolerance, age: 170, isAbandoned: true, owner: otherHost)
        expectWait(120, &script, over: stored)
        // The clock was set forward, in this process and before it began.
        (script, stored) = meeting(tolerance: tolerance, age: 0, isAbandoned: true)
        script.date += 180
        expectWait(120, &script, over: stored)
        script = MachineScript(isShared: true, tolerance: tolerance)
        script.date += 180
        _ = script.start(with: .stored("ada", 0))
        _ = script.refused(1, generation: 0)
        expectWait(120, &script, over: stored)
    }

    @Test func `Rule 3: a save is refused over other tokens of its generation, and another process's intent`() {
        let new = TokenBundle.stored("ada", 2)
        func recorded(by owner: ProcessIdentity) -> TokenBundle {
            new.with(refreshIntent: RefreshIntent(idempotencyKey: "key", owner: owner, date: MachineScript.start))
        }
        let (own, foreign) = (recorded(by: ProcessIdentity(host: "host", process: "p1")), recorded(by: .rival))
        let otherTokens = TokenBundle.stored("ada", 2, accessToken: "other", refreshToken: "other")
        let rows: [(save: TokenBundle, over: StoredSession, isWritten: Bool)] = [
            (new, .active(otherTokens), false), (new, .active(new), true),
            // The same tokens do not replace the intent of another process.
            (own, .active(new), true), (own, .active(own), true), (own, .active(foreign), false),
            (new, .active(foreign), false),
        ]
        for (save, found, isWritten) in rows {
            let content = StoreContent.bundle(save, over: .older)
            #expect((content.replacement(for: .success(found)) != nil) == isWritten, "\(found)")
        }
    }

    @Test func `A check of the store finds a sign-in, a switch and a sign-out of another process`() {
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.changed(to: .active(.stored("ada", 1))) == [])
        #expect(script.ask(1) == ["1: ada g1"])
        #expect(script.changed(to: .active(.stored("bob", 0))) == ["signed in bob"])
        #expect(script.changed(to: .ended("bob")) == ["signedOut byUser"])
        #expect(script.changed(to: .active(.stored("cleo", 2))) == ["signed in cleo"])
        #expect(script.ask(2) == ["2: cleo g2"])
    }

    @Test func `A tombstone counts for 30 days`() {
        for (days, text) in [(29.0, "signedOut byUser"), (31.0, "signedOut never")] {
            var script = MachineScript(isShared: true)
            _ = script.restore(1)
            let end = StoredSession.ended("ada", at: script.date - days * 86_400)
            #expect(script.loaded(.success(end)) == [text, "1: \(text)"])
        }
    }
}
