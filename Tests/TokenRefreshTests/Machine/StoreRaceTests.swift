import AuthInterface
import Testing

@testable import TokenRefresh

/// G8, G9, G13, G14: events between a request and its write. Each of these broke a law of the simulation once.
@Suite struct StoreRaceTests {
    @Test func `G8: a sign-in and a sign-out behind a hung write end when their own deadlines pass`() {
        var script = MachineScript()
        _ = script.signIn(1, as: "bob")
        _ = script.pass(.seconds(4))
        #expect(script.signIn(2, as: "cleo") == ["revoke only bob g0"])
        #expect(script.pass(.seconds(9)) == ["1: done"])
        #expect(script.pass(.seconds(1)) == ["signed in cleo", "2: done"])

        var signedOut = MachineScript.refreshing()
        _ = signedOut.respond()
        _ = signedOut.pass(.seconds(10))
        _ = signedOut.signOut(2)
        #expect(signedOut.pass(.seconds(10)) == ["2: storeUnavailable"])
        _ = signedOut.signOut(3)
        #expect(signedOut.pass(.seconds(10), isStored: true) == ["3: storeUnavailable", "delete"])
        #expect(signedOut.wrote() == [])

        var again = MachineScript.signedIn()
        _ = again.signOut(1)
        _ = again.pass(.seconds(4))
        _ = again.signOut(2)
        #expect(again.pass(.seconds(6)) == ["1: storeUnavailable", "2: storeUnavailable"], "one write, one limit")
    }

    @Test func `G9: once a slow sign-in is stored, the tokens that wait behind it replace no other session`() {
        var script = MachineScript(isShared: true)
        script.recordsIntents = false
        _ = script.signIn(1, as: "bob")
        let first = script.lastWrite
        #expect(script.refused(2, generation: 0, of: "bob", after: .seconds(10)) == ["lease"])
        #expect(script.leased(reading: .success(.empty)) == [], "the intent waits for the write")
        var failed = script
        #expect(failed.wrote(.failed(.locked), version: first) == ["intent bob g0"], "it has a write of its own")
        #expect(script.wrote(version: first) == ["intent bob g0"])
        #expect(!script.replaces(.stored("cleo", 0)))
        #expect(script.wrote() == ["call g0"], "the tokens may have been stored, so the intent is, too")
        #expect(script.respond() == ["save bob g1"])
        #expect(!script.replaces(.stored("cleo", 0)))
    }

    @Test func `G13: newer tokens of another process are used while a late call has not ended`() {
        var script = MachineScript.calling(for: .refresh)
        #expect(script.pass(.seconds(30)) == ["1: refreshUnavailable"])
        _ = script.changed(to: .active(.stored("ada", 1)))
        #expect(script.ask(2) == ["2: ada g1"])
    }

    @Test(arguments: [false, true])
    func `G13: what a check finds during a write of this process is followed after it`(isSignOut: Bool) {
        var script = MachineScript.signedIn(isShared: true)
        _ = isSignOut ? script.signOut(1) : script.signIn(1, as: "bob")
        #expect(script.changed(to: .active(.stored("cleo", 0))) == [], "the write is still under way")
        #expect(!script.storeFails().contains("check"), "and so it is until the next one")
        _ = script.pass(.seconds(2))
        #expect(script.wrote().contains("check"))
        #expect(script.checked(.active(.stored("cleo", 0))) == ["signed in cleo"])
    }

    @Test func `G13: a check that started before a sign-in elsewhere was found does not bring the old user back`() {
        var script = MachineScript.refreshing(for: .refresh, isShared: true)
        #expect(script.send(.storeChanged) == ["check"])
        #expect(script.leased(reading: .stored("bob", 0)).contains("signed in bob"))
        #expect(script.checked(.active(.stored("ada", 0))) == ["check"])
        #expect(script.state == "signed in bob")
        #expect(script.send(.storeChanged) == [], "a change during a check causes another one")
        #expect(script.checked(.active(.stored("bob", 0))) == ["check"])
        #expect(script.checked(.active(.stored("bob", 0))) == [])
    }

    @Test func `G9: a sign-in that is not stored yet replaces the session before it, and is not replaced by it`() {
        var script = MachineScript.unstored()
        #expect(script.reread(.stored("ada", 5)) == ["intent bob g0", "call g0"], "its call waits for no store")
        var rejected = script
        _ = script.storeFails()
        #expect(script.respond() == ["save bob g1"])
        #expect(script.replaces(.stored("ada", 5)))
        _ = rejected.respond(.rejected)
        #expect(rejected.reread(.stored("ada", 5)) == [], "the write of the intent is still under way")
        #expect(rejected.wrote() == ["delete"])
        #expect(rejected.wrote().contains("signedOut expired"))
    }

    @Test func `Rule 2: a failed save keeps the lease until it has succeeded`() {
        var script = MachineScript.unsaved()
        #expect(script.pass(.seconds(1), isStored: false) == ["save ada g1"])
        #expect(script.pass(.seconds(2), isStored: true) == ["save ada g1", "release"])
    }

    @Test func `G13, G32: of two bundles of one generation the stored one is used, for late refusals too`() {
        let theirs = TokenBundle.stored("ada", 1, accessToken: "access-ada-1b", refreshToken: "refresh-ada-1b")
        var storing = MachineScript.calling()
        #expect(storing.respond() == ["save ada g1"])
        var again = MachineScript.unsaved()
        #expect(again.pass(.seconds(1)) == ["save ada g1"])
        for var script in [storing, again] {
            #expect(script.wrote(.superseded(by: .active(theirs))).contains("release"))
            #expect(script.machine.current?.bundle.hasSameTokens(as: theirs) == true, "as those of a step-up elsewhere")
            let ours = SessionToken(value: "access-ada-1", session: theirs.session, generation: 1)
            #expect(script.refused(2, TokenRefusal(of: ours)) == ["2: ada g1"])
            #expect(!script.machine.status.isRefreshing)
        }
    }

    @Test func `G14: a rejection ends nothing while the store cannot be read`() {
        for hangs in [false, true] {
            var script = MachineScript.refreshing()
            #expect(script.respond(.rejected) == ["reread"])
            let texts = hangs ? script.pass(.seconds(30)) : script.reread(.failure(.locked))
            #expect(texts == ["1: storeUnavailable"])
            #expect(script.state == "signed in ada")
            _ = script.refused(2, generation: 0, after: .seconds(2))
            #expect(script.respond(.rejected) == (hangs ? [] : ["reread"]), "one read is under way at most")
            #expect(script.reread(.stored("ada", 0)) == ["delete"])
            let actions = hangs ? script.wrote() : script.storeFails()
            #expect(actions.contains("signedOut expired"), "in a store of one process also when the write fails")
        }
    }
}

/// G5, G9, G13: the end of a session in a shared store, its lease, and what other processes have stored.
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
    func `G9: a sign-out whose tombstone is not stored, or not in time, revokes and releases the lease`(hangs: Bool) {
        var script = MachineScript.unsaved()
        _ = script.signOut(2)
        if hangs { #expect(script.pass(.seconds(9)) == []) }
        let actions = hangs ? script.pass(.seconds(1)) : script.storeFails()
        #expect(actions.contains("revoke ada g1") && actions.contains("2: storeUnavailable"))
        #expect(actions.last == "release")
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
        #expect(second.send(.lease(.taken(AttemptID(number: 2), identity: nil))) == ["release"])
    }

    @Test func `The report of a write that is not under way changes nothing`() {
        var script = MachineScript.signedIn()
        #expect(script.signOut(1).first == "delete")
        #expect(script.wrote(version: 1) == [])
        #expect(script.wrote() == ["1: done"])
    }
}
