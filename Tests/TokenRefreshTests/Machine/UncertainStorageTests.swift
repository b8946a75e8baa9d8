import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

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
    func `G27: tokens that a failed save may have stored are not spent while the store can be neither read nor written`(
        isShared: Bool
    ) {
        var script = script(isShared: isShared)
        #expect(script.reread(.failure(.locked)) == ["intent bob g0"])
        #expect(script.storeFails() == ["save bob g0", "2: storeUnavailable"])
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "bob")))
    }

    @Test(arguments: [false, true])
    func `G27: tokens that a failed save may have stored are spent once their intent is stored`(isShared: Bool) {
        var script = script(isShared: isShared)
        #expect(script.reread(.failure(.locked)) == ["intent bob g0"])
        #expect(script.wrote() == ["call g0"])
    }

    @Test(arguments: [false, true])
    func `G27: tokens that a failed save did not store are spent at once`(isShared: Bool) {
        for found in [StoredSession.empty, .active(.stored("ada", 3))] {
            var script = script(isShared: isShared)
            #expect(script.reread(.success(found)) == ["intent bob g0", "call g0"])
        }
    }

    @Test(arguments: [false, true])
    func `G27: tokens that a failed save did store are spent once their intent is stored`(isShared: Bool) {
        var script = script(isShared: isShared)
        #expect(script.reread(.stored("bob", 0)) == ["intent bob g0"])
        #expect(script.wrote() == ["call g0"])
    }

    @Test func `G27: without the lease, tokens that a failed save may have stored are not spent`() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "bob")
        _ = script.storeFails()
        #expect(script.refused(2, generation: 0, of: "bob") == ["lease"])
        #expect(script.leaseFailed() == ["2: refreshUnavailable"])
    }

    @Test func `G9: a sign-in that is saved again replaces another session, and nothing newer of its own`() {
        let save = StoreContent.bundle(.stored("bob", 0), over: .anything)
        let bob = SessionID(rawValue: "bob")
        let intent = RefreshIntent(
            idempotencyKey: "key", owner: ProcessIdentity(host: "host", process: "p2"), date: Date())
        for found in [
            StoredSession.active(.stored("bob", 1)), .active(.stored("bob", 0).with(pendingRefresh: intent)),
            .ended(EndedSession(session: bob, reason: .byUser, date: Date())),
        ] {
            #expect(save.replacement(for: .success(found)) == nil, "\(found)")
        }
        let ada = EndedSession(session: SessionID(rawValue: "ada"), reason: .byUser, date: Date())
        for found in [StoredSession.empty, .active(.stored("ada", 5)), .active(.stored("bob", 0)), .ended(ada)] {
            #expect(save.replacement(for: .success(found)) != nil, "\(found)")
        }
    }

    @Test func `G8: a sign-out that cannot be stored keeps the lease until the call has ended`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased()
        #expect(script.reread(.stored("ada", 0)) == ["call g0"])
        _ = script.signOut(2)
        #expect(script.storeFails() == ["revoke ada g0", "2: storeUnavailable"])
        #expect(script.respond(.unavailable) == ["release"])
    }

    @Test func `G8: a sign-out that cannot be stored keeps the lease no longer than a call may take`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased()
        _ = script.reread(.stored("ada", 0))
        _ = script.signOut(2)
        _ = script.storeFails()
        #expect(script.pass(.seconds(119)).allSatisfy { $0 == "delete" })
        #expect(script.pass(.seconds(1)).contains("cancel call"))
        #expect(!script.pass(.seconds(9)).contains("release"))
        #expect(script.pass(.seconds(1)).contains("release"))
        #expect(script.events.contains { if case .callAbandoned = $0 { true } else { false } })
    }

    @Test func `G8: a sign-out that is stored releases the lease at once`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased()
        _ = script.reread(.stored("ada", 0))
        _ = script.signOut(2)
        #expect(script.wrote().contains("release"))
    }
}
