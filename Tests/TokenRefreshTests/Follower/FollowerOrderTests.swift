import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G29: which bundle a follower uses, and which ending is its own. What is given is ordered; what is read counts.
@Suite struct FollowerOrderTests {
    /// A follower of what is handed in, after some of it.
    private func after(_ contents: [StoredSession], clockAhead seconds: TimeInterval) -> FollowerScript {
        var script = FollowerScript(hasSource: false)
        script.date += seconds
        for content in contents { _ = script.give(content) }
        return script
    }

    @Test func `G29: of one session the higher generation counts, however late a lower one arrives`() {
        var script = FollowerScript.following()
        #expect(script.give(script.bundle("ada", 2)) == [])
        #expect(script.ask(1) == ["1: ada g2"])
        #expect(script.give(script.bundle("ada", 1)) == [])
        #expect(script.ask(2) == ["2: ada g2"])
    }

    @Test func `G29: of two sessions the later sign-in counts, whatever the generation`() {
        var script = FollowerScript.following()
        _ = script.pass(.seconds(60))
        #expect(script.give(script.bundle("bob", 0, begun: 30)) == ["signed in bob"])
        #expect(script.give(script.bundle("ada", 9)) == [])
        #expect(script.ask(1) == ["1: bob g0"])
    }

    /// Ada signs in while the owner's clock is ten minutes ahead. It is set back, and bob signs in.
    @Test(arguments: [0, 600, -86_400, 100_000_000] as [TimeInterval])
    func `G29: an owner's clock that is set back between two sign-ins changes no order`(ahead: TimeInterval) {
        let script = FollowerScript()
        let ada = StoredSession.active(script.bundle("ada", 3, begun: 600, ordinal: 600_000))
        let bob = StoredSession.active(script.bundle("bob", 0, begun: 0, ordinal: 600_001))
        let bobsEnd = script.ended("bob", at: 10, upTo: 600_001)
        for contents in [[ada, bob], [bob, ada], [ada, bob, ada], [bob, ada, bob]] {
            let follower = after(contents, clockAhead: ahead)
            #expect(follower.machine.published == .signedIn(SessionID(rawValue: "bob")))
        }
        for contents in [[ada, bob, bobsEnd, ada], [bobsEnd, ada, bob], [bob, bobsEnd, ada], [ada, bobsEnd, bob]] {
            #expect(after(contents, clockAhead: ahead).machine.current == nil)
        }
    }

    @Test func `G29: a source that an earlier version writes may hold the earlier ordinal: what it holds now counts`() {
        var script = FollowerScript()
        _ = script.read(.active(script.bundle("ada", 3, begun: 600)))
        #expect(script.read(.active(script.bundle("bob", 0, begun: 0))) == ["signed in bob"])
        #expect(script.give(script.bundle("ada", 3, begun: 600)) == [], "what was seen before stays behind")
        #expect(script.give(script.bundle("bob", 1, begun: 0)) == [])
        #expect(script.ask(1) == ["1: bob g1"])
        #expect(script.read(.active(script.bundle("bob", 0, begun: 0))) == [])
        #expect(script.ask(2) == ["2: bob g0"])
        #expect(script.read(script.ended("zoe", at: -60)) == ["signedOut byUser"])
        #expect(script.read(.active(script.bundle("bob", 0, begun: 0))) == ["signed in bob"])
    }

    @Test func `G29: sign-ins without an ordinal or a date have no order, and come before all that have one`() {
        var script = FollowerScript(hasSource: false)
        _ = script.give(script.bundle("ada", 3, begun: nil))
        #expect(script.give(script.bundle("bob", 1, begun: nil)) == ["signed in bob"])
        #expect(script.give(script.bundle("zoe", 0)) == ["signed in zoe"])
        #expect(script.give(script.bundle("bob", 9, begun: nil)) == [])
    }

    @Test func `G29: two sign-ins with one ordinal do not replace each other`() {
        var script = FollowerScript(hasSource: false)
        _ = script.give(script.bundle("ada", 0, ordinal: 7))
        #expect(script.give(script.bundle("bob", 4, ordinal: 7)) == [])
        #expect(script.give(script.bundle("ada", 1, ordinal: 7)) == [])
        #expect(script.ask(1) == ["1: ada g1"])
    }

    /// An earlier version that refreshes drops the ordinal, which a clock that was set back is behind.
    @Test func `G29: within one session only generation and ending count`() {
        var script = FollowerScript(hasSource: false)
        _ = script.give(script.bundle("bob", 0, begun: 0, ordinal: 2_000_000_000_000))
        #expect(script.give(script.bundle("bob", 1, begun: 0)) == [])
        #expect(script.ask(1) == ["1: bob g1"])
        #expect(script.give(script.bundle("ada", 4, begun: 600)) == [], "which came before bob")
        #expect(script.give(script.ended("bob", .expired(), at: -60)) == ["signedOut expired"])
        #expect(script.give(script.bundle("bob", 2, begun: 0)) == [])
        #expect(script.give(script.bundle("ada", 5, begun: 600)) == [])
    }

    @Test func `G29: a bundle of a session whose ending was seen is ignored, whatever its generation`() {
        var script = FollowerScript.following()
        #expect(script.give(script.ended("ada")) == ["signedOut byUser"])
        #expect(script.give(script.bundle("ada", 7)) == [])
        #expect(script.ask(1) == ["1: notSignedIn"])
        var early = FollowerScript(hasSource: false)
        #expect(early.give(early.ended("ada", upTo: 5)) == ["signedOut byUser"])
        #expect(early.give(early.bundle("ada", 1, ordinal: 5)) == [], "the end came before the tokens")
        #expect(early.give(early.bundle("zoe", 1, ordinal: 4)) == [], "and ends every earlier sign-in")
        #expect(early.give(early.bundle("bob", 0, ordinal: 6)) == ["signed in bob"])
    }

    @Test(arguments: [.byUser, .expired(), .application("disabled"), .lost()] as [SignOutReason])
    func `G29: the owner's ending is the follower's, once, with its reason`(reason: SignOutReason) {
        var script = FollowerScript.following()
        #expect(script.read(script.ended("ada", reason)) == [SessionState.signedOut(reason).text])
        #expect(script.read(script.ended("ada", reason)) == [])
        #expect(script.ask(1) == ["1: notSignedIn"])
        #expect(script.refused(2, script.token("ada", 0)) == ["2: sessionEnded"])
    }

    @Test func `G29: the ending of a later session, never seen before, ends the one that it replaced`() {
        var script = FollowerScript(hasSource: false)
        _ = script.give(script.bundle("ada", 0, ordinal: 5))
        #expect(script.give(script.ended("zoe", upTo: 4)) == [], "the end of an earlier one")
        #expect(script.give(script.ended("bob", .expired(), upTo: 6)) == ["signedOut expired"])
        #expect(script.give(script.bundle("ada", 1, ordinal: 5)) == [], "what has been replaced does not come back")
    }

    /// A sign-in over ada's session that the store could not take: its own session is in no store.
    @Test func `G29: an ending without a session ends what it reaches`() {
        var script = FollowerScript(hasSource: false)
        _ = script.give(script.bundle("ada", 0, ordinal: 5))
        #expect(script.give(script.ended("", .application("replaced"), upTo: 5)) != [])
        #expect(script.give(script.bundle("ada", 1, ordinal: 5)) == [])
        #expect(script.give(script.bundle("bob", 0, ordinal: 6)) == ["signed in bob"])
    }

    @Test func `G29: the tombstone of an earlier version ends its own session always, others up to its date`() {
        var script = FollowerScript(hasSource: false)
        _ = script.give(script.bundle("bob", 0, begun: 35))
        #expect(script.give(script.ended("ada", at: 30)) == [])
        #expect(script.give(script.ended("ada", at: 40)) == ["signedOut byUser"])
        #expect(script.give(script.bundle("bob", 1, begun: 35)) == [])
        var own = FollowerScript(hasSource: false)
        _ = own.give(own.bundle("bob", 0, begun: 35))
        #expect(own.give(own.ended("bob", at: -600)) == ["signedOut byUser"], "whatever its date")
        #expect(own.give(own.bundle("zoe", 0, begun: 36)) == ["signed in zoe"])
    }

    @Test func `G30: a session that was lost goes on with its own tokens, and no earlier one does`() {
        var script = FollowerScript(hasSource: false)
        _ = script.give(script.bundle("bob", 2, ordinal: 6))
        #expect(script.give(script.ended("bob", .lost(), upTo: 6)) == ["signedOut lost"])
        #expect(script.give(script.bundle("bob", 1, ordinal: 6)) == [], "older tokens")
        #expect(script.give(script.bundle("ada", 9, ordinal: 5)) == [])
        #expect(script.give(script.bundle("bob", 2, ordinal: 6)) == ["signed in bob"])
        _ = script.give(script.ended("bob", .lost(), upTo: 6))
        #expect(script.give(script.ended("bob", .byUser, upTo: 6)) == ["signedOut byUser"])
        #expect(script.give(script.ended("bob", .lost(), upTo: 6)) == [])
        #expect(script.give(script.bundle("bob", 3, ordinal: 6)) == [], "a sign-out is no loss")
    }

    @Test func `A later ending replaces the reason of an earlier one, and a late one does not`() {
        var script = FollowerScript(hasSource: false)
        _ = script.give(script.ended("ada", upTo: 10))
        #expect(script.give(script.ended("zoe", .expired(), upTo: 5)) == [])
        #expect(script.give(script.ended("bob", .expired(), upTo: 20)) == ["signedOut expired"])
    }

    @Test func `G29: an empty store ends no session, and shows at the first read that there is none`() {
        var script = FollowerScript()
        #expect(script.read(.empty) == ["signedOut never"])
        #expect(script.read(.active(script.bundle("ada", 0))) == ["signed in ada"])
        #expect(script.read(.empty) == [])
        #expect(script.ask(1) == ["1: ada g0"])
    }

    @Test func `A tombstone that is too old counts as nothing for a follower that starts, and not for another`() {
        let old = -60 - SessionTombstone.lifetime / .seconds(1)
        var script = FollowerScript()
        #expect(script.read(script.ended("ada", at: old)) == ["signedOut never"])
        #expect(script.read(script.ended("ada", at: old)) == [])
        var running = FollowerScript.following()
        #expect(running.read(running.ended("ada", at: old)) == ["signedOut byUser"])
    }

    @Test func `Tokens of the same generation replace each other: the store holds the ones that count`() {
        var script = FollowerScript.following()
        let bundle = script.bundle("ada", 0)
        let other = TokenBundle(
            accessToken: "access-other-0", refreshToken: nil, expiresAt: bundle.expiresAt, session: bundle.session,
            receivedAt: bundle.receivedAt, signedInAt: bundle.signedInAt)
        #expect(script.read(.active(other)) == [])
        #expect(script.machine.current?.token.value == "access-other-0")
        #expect(script.give(bundle) == [])
        #expect(script.machine.current?.token.value == "access-ada-0")
    }
}
