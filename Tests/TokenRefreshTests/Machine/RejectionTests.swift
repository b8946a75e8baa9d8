import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G13: what the store holds at the write of the end decides, and not what was read before it.
@Suite struct RejectionTests {
    /// A session whose refresh token was rejected, with nothing newer in the store at the read after that.
    private func rejected() -> MachineScript {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refused(1, generation: 0)
        _ = script.leased()
        #expect(script.reread(.stored("ada", 0)) == ["call g0"])
        #expect(script.respond(.rejected) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        return script
    }

    @Test func `G13: newer tokens that another process stores after the read are adopted, and the session stays`() {
        var script = rejected()
        let newer = StoredSession.active(.stored("ada", 1))
        #expect(script.lastContent?.replacement(for: .success(newer)) == nil, "the end is not written over them")
        #expect(script.wrote(.superseded(by: newer)) == ["1: ada g1", "release"])
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "ada")))
    }

    @Test func `G5: the end is published when it is stored`() {
        var script = rejected()
        let stored = StoredSession.active(.stored("ada", 0))
        guard case .ended? = script.lastContent?.replacement(for: .success(stored)) else {
            Issue.record("the rejected tokens stay")
            return
        }
        #expect(Set(script.wrote()) == ["1: sessionEnded", "release", "signedOut expired"])
    }

    @Test func `G13: when another process has signed in or out meanwhile, that holds`() {
        var replaced = rejected()
        #expect(replaced.wrote(.superseded(by: .active(.stored("bob", 0)))).contains("signed in bob"))
        var ended = rejected()
        let end = EndedSession(session: SessionID(rawValue: "ada"), reason: .byUser, date: Date())
        #expect(ended.wrote(.superseded(by: .ended(end))).contains("signedOut byUser"))
    }

    @Test func `G14: while the end cannot be stored, a session in a shared store stays`() {
        for hangs in [false, true] {
            var script = rejected()
            let actions = hangs ? script.pass(.seconds(10)) : script.storeFails()
            #expect(actions.contains("1: storeUnavailable"))
            #expect(script.machine.published == .signedIn(SessionID(rawValue: "ada")))
        }
    }

    @Test func `A store of one process ends the session at once when its write fails`() {
        var script = MachineScript.signedIn()
        _ = script.refused(1, generation: 0)
        _ = script.respond(.rejected)
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        #expect(script.storeFails().contains("signedOut expired"))
    }

    @Test func `A sign-out by the user during the write removes newer tokens, too`() {
        var script = rejected()
        #expect(script.signOut(2).contains("signedOut byUser"))
        _ = script.wrote(.superseded(by: .active(.stored("ada", 1))))
        let newer = StoredSession.active(.stored("ada", 1))
        #expect(script.lastContent?.replacement(for: .success(newer)) != nil)
    }
}
