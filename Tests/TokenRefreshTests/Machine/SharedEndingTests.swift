import AuthInterface
import Testing

@testable import TokenRefresh

/// G5, G9, G13: the end of a session in a shared store, the lease that it was refreshed under, and the content that
/// other processes have stored.
@Suite struct SharedEndingTests {
    @Test func `Rule 2: a sign-out keeps the lease until its tombstone is stored`() {
        var script = MachineScript.calling()
        #expect(script.signOut(2) == ["delete", "1: sessionEnded", "signedOut byUser"])
        #expect(script.wrote() == ["revoke ada g0", "2: done", "release"])
        // G9: newer tokens that it finds in the store are revoked, too.
        var newer = MachineScript.signedIn(isShared: true)
        _ = newer.signOut(1)
        #expect(newer.wrote(.written(replaced: .stored("ada", 2))) == ["revoke ada g2", "revoke ada g0", "1: done"])
    }

    @Test(arguments: [false, true])
    func `A sign-out whose tombstone is not stored, or not in time, releases the lease`(hangs: Bool) {
        var script = MachineScript.unsaved()
        _ = script.signOut(2)
        if hangs { #expect(script.pass(.seconds(9)) == []) }
        #expect((hangs ? script.pass(.seconds(1)) : script.storeFails()).last == "release")
    }

    @Test func `A sign-out whose tombstone cannot be stored waits for no call of a session whose end is stored`() {
        var script = MachineScript.calling(for: .refresh)
        _ = script.signOut(2)
        #expect(script.wrote().contains("release"))
        _ = script.signIn(3, as: "bob", isStored: true)
        #expect(script.refresh(4) == ["lease"])
        #expect(script.leased() == ["reread"])
        _ = script.signOut(5)
        #expect(script.storeFails().contains("release"))
    }

    @Test func `G22, G32: without a refresh token a session ends, and newer tokens of another process stay`() {
        var script = MachineScript.signedIn(isShared: true, refreshToken: nil)
        #expect(script.ask(1, after: .seconds(3_600)) == ["1: noRefreshToken", "delete"])
        var other = script
        #expect(!script.replaces(.stored("ada", 1)))
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 1)))) == [])
        #expect(script.ask(2) == ["2: ada g1"], "the user has stepped up there")
        #expect(other.ask(2) == ["2: noRefreshToken"])
        #expect(other.wrote() == ["signedOut expired"])
    }

    @Test func `G14: the end that the store takes after its limit ends the session all the same`() {
        var script = MachineScript.calling()
        #expect(script.rejected() == ["delete"])
        let end = script.lastWrite
        #expect(script.pass(.seconds(10)) == ["1: storeUnavailable", "release"], "another one may have newer tokens")
        #expect(script.ask(2) == ["2: ada g0"])
        #expect(script.wrote(version: end) == ["signedOut expired"])
    }

    /// Another process may have signed out meanwhile, and found the tombstone: its sign-out must hold.
    @Test(arguments: [false, true])
    func `G9, G13: tokens of a late call beside the end are kept, or revoked in a shared store`(isShared: Bool) throws {
        var script = MachineScript.calling(for: .refresh, isShared: isShared)
        let first = script.call
        _ = script.pass(.seconds(200), isStored: true)
        #expect(script.refresh(2, reading: .stored("ada", 0)) == ["call g0"])
        #expect(script.rejected() == ["delete"])
        let end = script.lastContent
        #expect(script.respond(call: first) == [])
        #expect(script.wrote() == ["save ada g1"], "they decide with their own write")
        guard isShared else {
            #expect(script.wrote() == ["2: signed in ada"])
            return
        }
        let tombstone = try #require(end?.replacement(for: .success(.active(.stored("ada", 0)))))
        #expect(!script.replaces(tombstone))
        let texts = script.wrote(.superseded(by: tombstone))
        #expect(texts.contains("signedOut expired") && texts.contains("revoke ada g1"))
    }

    @Test func `G9: a pending save is dropped when the store holds the session of another user`() {
        var script = MachineScript.unsaved()
        #expect(script.refresh(2) == ["reread"], "the lease is still held")
        let texts = ["revoke only ada g1", "signed in bob", "2: signed in bob", "release"]
        #expect(script.reread(.stored("bob", 0)) == texts, "no other process has seen them")
        #expect(script.pass(.seconds(300)) == [])
    }

    @Test func `Rule 5, G9: new tokens that another process keeps out of the store are revoked`() {
        var script = MachineScript.calling()
        _ = script.respond()
        var replaced = script
        let texts = ["1: sessionEnded", "signedOut byUser", "revoke ada g1", "check", "release"]
        #expect(script.wrote(.superseded(by: .ended("ada"))) == texts)
        #expect(replaced.wrote(.superseded(by: .active(.stored("bob", 0)))).contains("revoke only ada g1"))
        var marked = MachineScript.calling(for: .refresh)
        #expect(marked.send(.suspensionNear) == ["mark ada g0"])
        #expect(marked.respond() == [])
        #expect(marked.wrote(.superseded(by: .ended("ada"))).contains("revoke ada g1"))
        var stored = MachineScript.signedIn(isShared: true)
        #expect(stored.changed(to: .active(.stored("bob", 0))) == ["signed in bob"], "who signed in has revoked them")
    }

    @Test func `A lease for an attempt that has ended, and a second one, is released`() {
        var script = MachineScript.refreshing(isShared: true)
        #expect(script.pass(.seconds(30)) == ["1: refreshUnavailable"])
        #expect(script.leased() == ["release"])
        var second = MachineScript.calling()
        #expect(second.send(.leased(AttemptID(number: 2))) == ["release"])
    }

    @Test func `A change that is reported during a check causes another check`() {
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.send(.storeChanged) == ["check"])
        #expect(script.send(.storeChanged) == [])
        #expect(script.checked(.active(.stored("ada", 0))) == ["check"])
        #expect(script.checked(.active(.stored("ada", 0))) == [])
    }

    @Test func `The report of a write that is not under way changes nothing`() {
        var script = MachineScript.signedIn()
        #expect(script.signOut(1).first == "delete")
        #expect(script.wrote(version: 1) == [])
        #expect(script.wrote() == ["1: done"])
    }
}
