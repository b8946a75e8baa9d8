import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G5, G11, G13, G14: the store, and the processes that share it.
@Suite struct StoringTests {
    @Test func `G11: no request uses new tokens before they are stored`() {
        var script = MachineScript.signedIn(lifetime: .seconds(100))
        _ = script.ask(1, after: .seconds(100))
        #expect(script.respond() == ["save ada g1"])
        #expect(script.ask(2) == [])
        #expect(script.machine.ready?.token(at: script.uptime) == nil)
        #expect(script.wrote() == ["1: ada g1", "2: ada g1"])
        var signIn = MachineScript()
        #expect(signIn.signIn(1, as: "bob") == ["save bob g0"])
        #expect(signIn.ask(2) == [])
        #expect(signIn.machine.ready?.token(at: signIn.uptime) == nil)
        #expect(signIn.wrote() == ["signed in bob", "2: bob g0", "1: done"])
    }

    @Test func `G11: tokens that cannot be stored, or not in time, are used from memory, and storing is retried`() {
        var script = MachineScript.refreshing()
        _ = script.respond()
        var hanging = script
        #expect(hanging.pass(.seconds(9), then: .seconds(1)) == ["1: ada g1"])
        #expect(script.storeFails() == ["1: ada g1"])
        #expect(script.events.contains { if case .storeFailed = $0 { true } else { false } })
        #expect(script.pass(.seconds(1), isStored: false) == ["save ada g1"])
        #expect(script.pass(.seconds(2), isStored: true) == ["save ada g1"])
        #expect(script.pass(.seconds(1_000)) == [])
    }

    @Test func `G13: under the lease the store is read again, and a newer bundle is adopted without a call`() {
        let past = MachineScript.start - 1
        let unrefreshable = TokenBundle.stored("ada", 1, refreshToken: "", expiresAt: past)
        let later = TokenStoreError(.unsupportedVersion, reason: "later")
        let (corrupt, empty) = (TokenStoreError(.corrupt, reason: "no session"), StoredSession.empty)
        let rows: [(found: StoreResult, texts: [String])] = [
            (.success(.active(.stored("ada", 1))), ["1: ada g1", "release"]),
            // Its token has expired meanwhile.
            (.success(.active(.stored("ada", 3, expiresAt: past))), ["call g3"]),
            (.success(.active(unrefreshable)), ["1: noRefreshToken", "release"]),
            (.success(.active(.stored("bob", 0))), ["1: sessionEnded", "signed in bob", "release"]),
            // G14: a store that has lost the session, and one that cannot be read.
            (.success(.active(.stored("ada", 0))), ["call g0"]), (.success(empty), ["call g0"]),
            (.failure(corrupt), ["call g0"]), (.failure(.locked), ["1: storeUnavailable", "release"]),
            // G36: what a later version has stored causes no call.
            (.failure(later), ["1: storeUnavailable", "release"]),
        ]
        for (found, texts) in rows {
            var script = MachineScript.refreshing(isShared: true)
            #expect(script.leased(reading: found) == texts)
            guard texts == ["call g0"] else { continue }
            #expect(script.respond(isStored: true) == ["save ada g1", "1: ada g1", "release"])
        }
    }

    @Test func `G13: on a rejection the store is read once more, and a newer bundle is adopted`() {
        for isShared in [false, true] {
            var script = MachineScript.calling(isShared: isShared)
            #expect(script.respond(.rejected) == ["reread"])
            #expect(script.reread(.stored("ada", 1)).contains("1: ada g1"))
        }
    }

    @Test func `G5, G13: when another process has ended the session, this one follows with the same reason`() {
        for reason in [SignOutReason.byUser, .expired(SessionEnding(status: 400)), .application("disabled")] {
            var script = MachineScript.refreshing(isShared: true)
            let actions = script.leased(reading: .success(.ended("ada", reason)))
            #expect(actions.count == 3 && actions.first?.hasPrefix("signedOut") == false, "\(actions)")
            #expect(script.machine.published == .signedOut(reason))
            #expect(script.machine.status.lastEnding == reason)
        }
    }

    @Test(arguments: [TokenStoreError.Code.unavailable, .corrupt, .insecure, .unsupportedVersion])
    func `G14: an unreadable store leaves the state unknown, and is read again`(code: TokenStoreError.Code) {
        var script = MachineScript()
        #expect(script.ask(1) == ["load"])
        #expect(script.ask(2) == [])
        let error = TokenStoreError(code, reason: "scripted")
        #expect(script.loaded(.failure(error)) == ["1: storeUnavailable", "2: storeUnavailable"])
        #expect(script.state == "unknown")
        #expect(script.pass(.seconds(1)) == ["load"])
        #expect(script.loaded(.success(.active(.stored("ada", 2)))) == ["signed in ada"])
        #expect(script.ask(3) == ["3: ada g2"])
    }

    @Test func `G13, G14: a change is read after the first read, or at once in the pause after one that failed`() {
        var script = MachineScript(isShared: true)
        #expect(script.ask(1) == ["load"])
        var reading = script
        #expect(reading.send(.storeChanged) == [], "the read is under way")
        #expect(reading.loaded(.success(.empty)).contains("check"))
        #expect(reading.checked(.active(.stored("bob", 0))) == ["signed in bob"])
        #expect(script.loaded(.failure(.locked)) == ["1: storeUnavailable"])
        #expect(script.send(.storeChanged) == ["load"])
        #expect(script.loaded(.success(.active(.stored("ada", 2)))) == ["signed in ada"])
    }

    @Test func `G14: a store that hangs at start fails the waiters, and its late result is used`() {
        var script = MachineScript()
        _ = script.ask(1)
        #expect(script.pass(.seconds(10)) == ["1: storeUnavailable"])
        #expect(script.state == "unknown")
        #expect(script.ask(2) == [])
        #expect(script.loaded(.success(.active(.stored("ada", 2)))) == ["signed in ada", "2: ada g2"])
    }
}

/// G4, G8, G11, G27: intents and tokens that are being stored, and writes that fail.
@Suite struct RecordingTests {
    @Test(arguments: ["a lock", "another", nil])
    func `Rule 4: an intent names the lease under which its call is made`(identity: String?) {
        var script = MachineScript.refreshing(isShared: true)
        script.recordsIntents = false
        _ = script.leased(identity)
        #expect(script.reread(.stored("ada", 0)) == ["intent ada g0"])
        #expect(script.lastIntent?.lease == identity)
    }

    @Test func `G8: the limit of a call counts from its intent, which other processes see`() {
        var script = MachineScript.recording()
        _ = script.pass(.seconds(5))
        #expect(script.wrote() == ["call g0"])
        #expect(script.pass(.milliseconds(114_999)) == ["1: refreshUnavailable"])
        #expect(script.pass(.milliseconds(1)) == ["cancel call"])
    }

    @Test func `G8: callers fail when their call is abandoned, although the timer of their deadline is late`() {
        var script = MachineScript.calling()
        let id = AttemptID(number: 1)
        script.timers[.deadline(id)] = nil
        #expect(script.pass(.seconds(120)) == ["cancel call"])
        #expect(script.pass(.seconds(10), isStored: true) == ["mark ada g0", "1: refreshUnavailable", "release"])
    }

    /// It fails, or is late: after the limit of the store, or after the deadline of its attempt, which began before.
    @Test(arguments: [(0, nil), (0, 10), (25, 5)] as [(Int, Int?)])
    func `G27: an intent not stored in time causes no call, and is not stored later`(leasedAfter: Int, late: Int?) {
        var script = MachineScript.recording(leasedAfter: .seconds(leasedAfter))
        var actions = late.map { script.pass(.seconds($0)) } ?? []
        actions += script.storeFails()
        #expect(actions.first == "1: storeUnavailable" && actions.contains("release"))
        #expect(!actions.contains { $0.hasPrefix("call") })
        #expect(script.pass(.seconds(300)) == [])
        #expect(script.state == "signed in ada")
    }

    @Test func `G11: tokens that the store has never held, or not in time, are refreshed although it cannot be read`() {
        var late = MachineScript.calling()
        #expect(late.respond(after: .seconds(25)) == ["save ada g1"])
        #expect(late.pass(.seconds(5)) == ["1: ada g1"], "the deadline of the attempt")
        _ = late.storeFails()
        for var script in [.unsaved(), late] {
            #expect(script.refresh(2) == ["reread"])
            #expect(script.reread(.failure(.locked)) == ["call g1"])
        }
    }

    @Test func `G12, G28: tokens that were never stored are written with the key and the date of an earlier call`() {
        var script = MachineScript.unstored()
        #expect(script.reread(.success(.empty)) == ["intent bob g0", "call g0"])
        let (key, first) = (script.key, script.date)
        _ = script.respond(.unavailable, isStored: false)
        // No timer is due, so nothing is written again yet.
        script.uptime += .seconds(2)
        script.date += 2
        #expect(script.refresh(3) == ["reread"])
        #expect(script.reread(.failure(.locked)) == ["intent bob g0"])
        #expect(script.storeFails().contains("3: storeUnavailable"))
        let intent = script.lastIntent
        #expect(intent?.idempotencyKey == key && intent?.date == first && intent?.firstDate == first)
    }

    @Test func `G13: a sign-in, or an end, that the write of an intent finds is followed at once`() {
        for (found, state) in [
            (StoredSession.active(.stored("bob", 0)), "signed in bob"), (.ended("ada"), "signedOut byUser"),
        ] {
            var script = MachineScript.recording()
            let actions = script.wrote(.superseded(by: found))
            #expect(actions.contains(state) && actions.contains("1: sessionEnded") && actions.contains("release"))
        }
    }

    @Test func `G13: a pending save is dropped when the store holds newer tokens of another process`() {
        var script = MachineScript.calling()
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        #expect(script.respond() == [], "the mark is still on its way")
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 2)))) == ["1: ada g2", "release"])
        #expect(script.pass(.seconds(300)) == [])
    }

    // MARK: Late events

    @Test func `G27: the write of an earlier version, stored or refused, is not that of the intent that follows`() {
        var script = MachineScript.unsaved()
        #expect(script.pass(.seconds(1)) == ["save ada g1"])
        script.recordsIntents = false
        #expect(script.refresh(2) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == [], "the intent waits for the save")
        var refused = script
        #expect(script.wrote() == ["intent ada g1"])
        #expect(script.wrote() == ["call g1"])
        #expect(refused.wrote(.superseded(by: .active(.stored("ada", 0)))) == ["intent ada g1"])
    }

    private let busy = TokenRefreshError(.unavailable, status: 503)

    @Test func `Rule 7: a failure is not stored once the lease is lost, nor over a mark, and keeps no lease`() throws {
        var script = MachineScript.calling()
        script.recordsIntents = false
        var marked = script
        _ = script.send(.lease(.lost(try #require(script.call?.id))))
        #expect(script.respond(busy) == ["1: refreshUnavailable", "release"])
        #expect(marked.send(.suspensionNear) == ["mark ada g0"])
        #expect(marked.respond(busy) == ["1: refreshUnavailable"], "the intent is being marked")
        #expect(marked.wrote() == ["release"])
    }

    @Test(arguments: [false, true])
    func `G19: the failure of a replay does not hide the call whose response was lost`(isReplay: Bool) {
        var script = MachineScript.calling(tolerance: .sameKey)
        let date = script.date
        _ = script.pass(.seconds(2))
        if isReplay { #expect(script.respond(.unavailable) == ["call g0"]) }
        script.recordsIntents = false
        #expect(script.respond(busy) == ["1: refreshUnavailable", "failed ada g0"])
        #expect(script.lastIntent?.firstDate == (isReplay ? date : nil))
    }
}
