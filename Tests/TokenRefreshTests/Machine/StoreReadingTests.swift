import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G2, G4, G5, G12 to G14, G19, G27: what an attempt finds in a shared store, and the tokens of other processes.
@Suite struct StoreReadingTests {
    @Test func `G5: a session whose tokens could not be stored ends with its own tombstone, and with no other`() {
        var script = MachineScript.unstored()
        var ended = script
        #expect(script.reread(.success(.ended("ada"))).last == "call g0")
        #expect(ended.reread(.success(.ended("bob"))).contains("signedOut byUser"))
    }

    @Test(arguments: [0, .infinity, -.infinity, .nan, 1e300, -1e300])
    func `A stored bundle with absurd times does not stop the process, and signs no user out`(seconds: Double) {
        let expiresAt = Date(timeIntervalSince1970: seconds)
        let stored = TokenBundle.stored("ada", 0, expiresAt: expiresAt, clockSkew: seconds)
        for isShared in [false, true] {
            var script = MachineScript(isShared: isShared)
            _ = script.start(with: stored)
            #expect(script.state == "signed in ada")
            var actions = script.refused(2, generation: 0)
            if isShared { actions += script.leased(reading: stored) }
            actions += script.finish()
            #expect(!actions.contains { $0 == "delete" || $0.hasPrefix("signedOut") })
        }
    }

    @Test func `Rule 4: a process does not wait for a call of its own that it has abandoned`() {
        var script = MachineScript.refreshing(isShared: true)
        let owner = ProcessIdentity(host: "host", process: "p1")
        let intent = RefreshIntent(idempotencyKey: "key", owner: owner, date: script.date, isAbandoned: true)
        #expect(script.leased(reading: .stored("ada", 0).with(refreshIntent: intent)) == ["call g0"])
        #expect(script.key == "key")
    }

    @Test func `G27: an older bundle in the store does not say that the tokens in use were never stored`() {
        var script = MachineScript.refreshedOnce(isShared: true)
        script.recordsIntents = false
        // The store has gone back to a backup.
        _ = script.refresh(1, reading: .stored("ada", 0))
        #expect(script.storeFails() == ["1: storeUnavailable", "release"])
        #expect(script.refresh(2, after: .seconds(60)) == ["lease"])
        #expect(script.leased(reading: .failure(.locked)) == ["2: storeUnavailable", "release"])
    }

    // MARK: Tokens of another process

    @Test func `G2: callers that wait for a pause get the tokens that another process has stored meanwhile`() {
        var script = MachineScript.calling(policy: .withoutJitter)
        _ = script.respond(.unavailable)
        #expect(script.refused(2, generation: 0) == [])
        #expect(script.refresh(3) == [])
        #expect(Set(script.changed(to: .active(.stored("ada", 1)))) == ["2: ada g1", "3: signed in ada"], "no refresh")
    }

    @Test func `G13, G14: a save that finds its own session shows that the session is stored, and newer tokens are`() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "ada", isStored: false)
        #expect(script.pass(.seconds(1)) == ["save ada g0"])
        var adopting = script
        _ = script.wrote(.superseded(by: .active(.stored("ada", 0, refreshToken: ""))))
        #expect(script.changed(to: .active(.stored("bob", 0))) == ["revoke only ada g0", "signed in bob"])
        _ = adopting.wrote(.superseded(by: .active(.stored("ada", 1))))
        #expect(adopting.refresh(2) == ["lease"])
        let unread = adopting.leased(reading: .failure(.locked))
        #expect(unread == ["2: storeUnavailable", "release"], "they are not spent while the store cannot be read")
    }

    /// A later generation with ada's first access token, as an earlier version stores it.
    private let unchanged = TokenBundle.stored("ada", 1, accessToken: "access-ada-0")

    @Test func `G13: a newer bundle with the same access token does not replace the call, read or found by a write`() {
        var script = MachineScript.signedIn(isShared: true)
        let before = script.machine.current?.expiry
        #expect(script.refused(1, generation: 0, after: .seconds(60), reading: unchanged) == ["call g1"])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-1")
        // What this process knows of the access token stays.
        #expect(script.machine.current?.expiry == before)
        var written = MachineScript.calling()
        _ = written.respond()
        #expect(written.wrote(.superseded(by: .active(unchanged))) == ["reread"])
        #expect(written.reread(unchanged) == ["call g1"])
        for var script in [script, written] { #expect(script.finish() == ["1: ada g2", "release"]) }
    }

    /// Ada's tokens as another process has received them `age` seconds ago. Its clock is `ahead` of this one's.
    private func adopted(_ script: MachineScript, age: TimeInterval = 0, ahead: TimeInterval) -> TokenBundle {
        let receivedAt = script.date - age + ahead
        return TokenBundle.stored("ada", 1, expiresAt: receivedAt + 3_600, receivedAt: receivedAt)
    }

    @Test(arguments: [-30 * 86_400, -7_200, -3, 0, 3, 7_200, 30 * 86_400] as [TimeInterval])
    func `G19: adopted tokens are as fresh as the store shows, by any other clock`(ahead: TimeInterval) throws {
        for isReported in [true, false] {
            var script = MachineScript.signedIn(isShared: true)
            _ = script.pass(.seconds(1_800))
            _ = script.changed(to: .active(try #require(script.machine.current?.bundle)))
            _ = script.pass(.seconds(isReported ? 1_735 : 60))
            let adopted = adopted(script, ahead: ahead)
            if isReported {
                _ = script.changed(to: .active(adopted))
            } else {
                #expect(script.refresh(1, reading: adopted).first == "1: signed in ada", "no call is due")
            }
            let left = try #require(script.machine.current?.expiry.end) - script.uptime
            #expect(left > .seconds(isReported ? 3_590 : 3_530) && left <= .seconds(3_600))
            #expect(script.ask(2) == ["2: ada g1"])
        }
    }

    @Test func `G19: tokens of other processes do not age by a clock that is set, here or there, and do in a sleep`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.pass(.seconds(60))
        var (slept, behind) = (script, script)
        script.date += 86_400
        _ = script.changed(to: .active(adopted(script, ahead: -86_400)))
        #expect(script.ask(1) == ["1: ada g1"], "set forward here")

        _ = slept.sleep(.seconds(7_200))
        _ = slept.changed(to: .active(adopted(slept, age: 7_000, ahead: 0)))
        #expect(slept.ask(1) == ["lease"])

        _ = behind.changed(to: .active(adopted(behind, ahead: -7_200)))
        _ = behind.send(.serverDateNoted(behind.date + 1))
        #expect(behind.ask(1) == ["1: ada g1"], "a server's date does not bring the other clock back")
    }

    @Test func `G4: an ambiguous refusal of earlier tokens is not repeated by one of the adopted tokens`() {
        let bare = TokenRefreshError(.ambiguous, status: 401)
        var script = MachineScript.calling(for: .refresh)
        #expect(script.respond(bare) == ["1: refreshUnavailable", "release"])
        _ = script.changed(to: .active(.stored("ada", 1)))
        #expect(script.refresh(2, after: .seconds(60), reading: .stored("ada", 1)) == ["call g1"])
        #expect(script.respond(bare) == ["2: refreshUnavailable", "release"])
    }

    @Test func `G12, G13: a check during a call adopts nothing, and after it tokens that do not get its key`() {
        var script = MachineScript.calling()
        let key = script.key
        #expect(script.changed(to: .active(.stored("ada", 1))) == [])
        var kept = script
        #expect(kept.respond() == ["save ada g1"])
        _ = script.respond(.unavailable)
        _ = script.changed(to: .active(.stored("ada", 1)))
        #expect(script.refresh(2, reading: .stored("ada", 1)) == ["call g1"])
        #expect(script.key != key)
    }

    // MARK: A write that has failed, and may have stored the tokens

    @Test(arguments: [false, true])
    func `G27: tokens that a failed save may have stored are spent only once their intent is stored`(isShared: Bool) {
        var script = MachineScript.unstored(isShared: isShared)
        var read = script
        #expect(script.reread(.failure(.locked)) == ["intent bob g0"])
        var failed = script
        #expect(script.wrote() == ["call g0"])
        #expect(failed.storeFails() == ["save bob g0", "2: storeUnavailable"])
        #expect(failed.state == "signed in bob")
        #expect(read.reread(.stored("bob", 0)) == ["intent bob g0"], "the save has stored them")
        #expect(read.wrote() == ["call g0"])
        for found in [StoredSession.empty, .active(.stored("ada", 3))] {
            var script = MachineScript.unstored(isShared: isShared)
            #expect(script.reread(.success(found)) == ["intent bob g0", "call g0"], "the save has not stored them")
        }
    }

    @Test func `G8: a sign-out that cannot be stored keeps the lease until the call has ended, or is abandoned`() {
        var script = MachineScript.calling(for: .refresh)
        _ = script.signOut(2)
        #expect(script.storeFails() == ["revoke ada g0", "2: storeUnavailable"])
        var hanging = script
        #expect(script.respond(.unavailable) == ["release"])
        #expect(hanging.pass(.seconds(119)).allSatisfy { $0 == "delete" })
        #expect(hanging.pass(.seconds(1)).contains("cancel call"))
        #expect(!hanging.pass(.seconds(9)).contains("release"))
        #expect(hanging.pass(.seconds(1)).contains("release"))
        #expect(hanging.events.contains { if case .callAbandoned = $0 { true } else { false } })
    }
}
