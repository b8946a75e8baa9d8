import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G5, G9, G10, G12 to G14, G19: what an attempt finds in a shared store.
@Suite struct StoreReadingTests {
    @Test func `G5: a session whose tokens could not be stored ends with its own tombstone, and with no other`() {
        var script = MachineScript.unstored("bob")
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
        _ = script.leased()
        let owner = ProcessIdentity(host: "host", process: "p1")
        let intent = RefreshIntent(idempotencyKey: "key", owner: owner, date: script.date, isAbandoned: true)
        #expect(script.reread(.stored("ada", 0).with(refreshIntent: intent)) == ["call g0"])
        #expect(script.key == "key")
    }

    @Test func `G27: an older bundle in the store does not say that the tokens in use were never stored`() {
        var script = MachineScript.refreshedOnce(isShared: true)
        script.recordsIntents = false
        #expect(script.refresh(1) == ["lease"])
        _ = script.leased()
        // The store has gone back to a backup.
        _ = script.reread(.stored("ada", 0))
        #expect(script.storeFails() == ["1: storeUnavailable", "release"])
        #expect(script.refresh(2, after: .seconds(60)) == ["lease"])
        #expect(script.leased(reading: .failure(.locked)) == ["2: storeUnavailable", "release"])
    }

    // MARK: Tokens of another process

    @Test func `G13: a check during a call adopts nothing, so that its response is kept`() {
        var script = MachineScript.calling()
        #expect(script.changed(to: .active(.stored("ada", 1))) == [])
        #expect(script.respond() == ["save ada g1"])
    }

    @Test func `G12: the key of a call is not used for the tokens of another process`() {
        var script = MachineScript.calling()
        let key = script.key
        _ = script.respond(.unavailable)
        _ = script.changed(to: .active(.stored("ada", 1)))
        #expect(script.refresh(2, reading: .stored("ada", 1)) == ["call g1"])
        #expect(script.key != key)
    }
}

/// G27: a write that has failed may have stored the tokens all the same.
@Suite struct UncertainStorageTests {
    /// A sign-in of bob whose save was reported as failed, and an attempt that has the lease where there is one.
    private func script(isShared: Bool) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        script.recordsIntents = false
        _ = script.signIn(1, as: "bob")
        #expect(script.storeFails() == ["signed in bob", "1: done"])
        #expect(script.refused(2, generation: 0, of: "bob") == [isShared ? "lease" : "reread"])
        if isShared { #expect(script.leased() == ["reread"]) }
        return script
    }

    @Test(arguments: [false, true])
    func `G27: tokens that a failed save may have stored are spent once their intent is stored, and not before`(
        isShared: Bool
    ) {
        var script = script(isShared: isShared)
        var read = script
        #expect(script.reread(.failure(.locked)) == ["intent bob g0"])
        var failed = script
        #expect(script.wrote() == ["call g0"])
        #expect(failed.storeFails() == ["save bob g0", "2: storeUnavailable"])
        #expect(failed.state == "signed in bob")
        #expect(read.reread(.stored("bob", 0)) == ["intent bob g0"], "the save has stored them")
        #expect(read.wrote() == ["call g0"])
    }

    @Test(arguments: [false, true])
    func `G27: tokens that a failed save did not store are spent at once`(isShared: Bool) {
        for found in [StoredSession.empty, .active(.stored("ada", 3))] {
            var script = script(isShared: isShared)
            #expect(script.reread(.success(found)) == ["intent bob g0", "call g0"])
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
