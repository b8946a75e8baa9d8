import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G8, G9, G13, G14: events between a request and its write. Each of these broke a law of the simulation once.
@Suite struct StoreRaceTests {
    @Test func `G8: a sign-in behind a hung write ends when its own deadline passes`() {
        var script = MachineScript()
        _ = script.signIn(1, as: "bob")
        _ = script.pass(.seconds(4))
        #expect(script.signIn(2, as: "cleo") == ["revoke only bob g0"])
        #expect(script.pass(.seconds(9)) == ["1: done"])
        #expect(script.pass(.seconds(1)) == ["signed in cleo", "2: done"])
    }

    @Test func `G8: a sign-out behind a hung write fails when its own deadline passes, and so does the next one`() {
        var script = MachineScript.refreshing()
        _ = script.respond()
        _ = script.pass(.seconds(10))
        _ = script.signOut(2)
        #expect(script.pass(.seconds(10)) == ["2: storeUnavailable"])
        _ = script.signOut(3)
        #expect(script.pass(.seconds(10), isStored: true) == ["3: storeUnavailable", "delete"])
        #expect(script.wrote() == [])
    }

    @Test func `G9: once a slow sign-in is stored, the tokens that wait behind it replace no other session`() {
        var script = MachineScript(isShared: true)
        script.recordsIntents = false
        _ = script.signIn(1, as: "bob")
        let first = script.lastWrite
        #expect(script.refused(2, generation: 0, of: "bob", after: .seconds(10)) == ["lease"])
        #expect(script.leased(reading: .success(.empty)) == [], "the intent waits for the write")
        #expect(script.wrote(version: first) == ["intent bob g0"])
        #expect(!script.replaces(.stored("cleo", 0)))
        #expect(script.wrote() == ["call g0"], "the tokens may have been stored, so the intent is, too")
        #expect(script.respond() == ["save bob g1"])
        #expect(!script.replaces(.stored("cleo", 0)))
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
            let actions = hangs ? script.pass(.seconds(30)) : script.reread(.failure(.locked))
            #expect(actions == ["1: storeUnavailable"])
            #expect(script.state == "signed in ada")
            _ = script.refused(2, generation: 0, after: .seconds(2))
            #expect(script.respond(.rejected) == (hangs ? [] : ["reread"]), "one read is under way at most")
            #expect(script.reread(.stored("ada", 0)) == ["delete"])
            #expect(script.wrote().contains("signedOut expired"))
        }
    }
}
