import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G29: which bundle a follower uses, and which ending is its own.
@Suite struct FollowerOrderTests {
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

    @Test func `G29: a sign-in instant that is not known, or that is still to come, gives no order`() {
        for begun in [nil, 86_400] as [TimeInterval?] {
            var script = FollowerScript()
            _ = script.give(script.bundle("ada", 3, begun: begun))
            #expect(script.give(script.bundle("bob", 0)) == ["signed in bob"], "the clock was set back since")
        }
    }

    @Test func `G29: a clock that was ahead at one sign-in does not hide the next one from a follower that looks late`()
    {
        for isSeenLater in [false, true] {
            // Ada signs in while the clock is ten minutes ahead. It is put right, and then bob signs in.
            var script = FollowerScript()
            if !isSeenLater { script.date += 600 }
            _ = script.give(script.bundle("ada", 0, begun: 600))
            if !isSeenLater { script.date -= 600 }
            _ = script.pass(.seconds(60))
            _ = script.give(script.bundle("ada", 1, begun: 600))
            _ = script.pass(.seconds(3_600))
            _ = script.give(script.bundle("ada", 2, begun: 600))
            #expect(script.give(script.bundle("bob", 0, begun: 300)) == ["signed in bob"])
            #expect(script.give(script.bundle("bob", 1, begun: 300)) == [])
            #expect(script.ask(1) == ["1: bob g1"])
        }
    }

    @Test func `G29: a clock that is set forward, or a little back, leaves the order of the sign-ins`() {
        for seconds in [86_400.0, -20] {
            var script = FollowerScript.following()
            _ = script.pass(.seconds(60))
            script.date += seconds
            #expect(script.give(script.bundle("zoe", 4, begun: -60)) == [], "an earlier sign-in")
        }
    }

    @Test func `G29: a bundle of a session whose ending was seen is ignored, whatever its generation`() {
        var script = FollowerScript.following()
        #expect(script.give(script.ended("ada")) == ["signedOut byUser"])
        #expect(script.give(script.bundle("ada", 7)) == [])
        #expect(script.ask(1) == ["1: notSignedIn"])
        var early = FollowerScript.following()
        #expect(early.give(early.ended("bob", at: -60)) == [], "an earlier session's end that arrives late")
        #expect(early.give(early.bundle("bob", 1, begun: 60)) == [])
        #expect(early.ask(1) == ["1: ada g0"])
    }

    @Test func `G29: a bundle of an earlier session is ignored after the ending of a later one`() {
        var script = FollowerScript.following()
        _ = script.give(script.ended("ada"))
        #expect(script.give(script.bundle("zoe", 4, begun: -60)) == [])
        _ = script.pass(.seconds(60))
        #expect(script.give(script.bundle("bob", 0, begun: 30)) == ["signed in bob"])
    }

    @Test(arguments: [SignOutReason.byUser, .expired(), .application("disabled")])
    func `G29: the owner's ending is the follower's, once, with its reason`(reason: SignOutReason) {
        var script = FollowerScript.following()
        #expect(script.read(script.ended("ada", reason)) == [SessionState.signedOut(reason).text])
        #expect(script.read(script.ended("ada", reason)) == [])
        #expect(script.ask(1) == ["1: notSignedIn"])
        #expect(script.refused(2, script.token("ada", 0)) == ["2: sessionEnded"])
    }

    @Test func `G29: the ending of a later session, never seen before, ends the one that it replaced`() {
        var script = FollowerScript.following()
        _ = script.pass(.seconds(60))
        #expect(script.read(script.ended("bob", .expired())) == ["signedOut expired"])
        #expect(script.read(.active(script.bundle("ada", 1))) == [], "what has been replaced does not come back")
    }

    /// The owner's clock is 30 s ahead of the follower's, which can show it by other instants only.
    @Test func `G29: an ending that arrives late ends no later session, whatever the clocks are`() {
        var script = FollowerScript.following()
        #expect(script.give(script.bundle("bob", 0, begun: 35)) == ["signed in bob"])
        #expect(script.give(script.ended("ada", at: 30)) == [])
        var again = FollowerScript.following()
        _ = again.give(again.ended("ada", at: 30))
        #expect(again.give(again.bundle("bob", 1, begun: nil)) == ["signed in bob"])
        #expect(again.give(again.ended("ada", at: 30)) == [], "the same ending once more")
        #expect(again.give(again.ended("zoe", at: 40)) == ["signedOut byUser"], "which may have replaced it")
        #expect(again.give(again.bundle("bob", 2, begun: nil)) == ["signed in bob"], "and has not")
    }

    /// The owner's clock was years ahead when the session began, and was set since.
    @Test func `G29: an ending of another session counts where the order is not known`() {
        var script = FollowerScript.following()
        _ = script.give(script.bundle("bob", 0, begun: 100_000_000))
        #expect(script.give(script.ended("zoe", at: 40)) == ["signedOut byUser"])
    }

    @Test func `A later ending replaces the reason of an earlier one, and a late one does not`() {
        var script = FollowerScript.following()
        _ = script.read(script.ended("ada", at: 10))
        #expect(script.give(script.ended("zoe", .expired(), at: 5)) == [])
        #expect(script.give(script.ended("bob", .expired(), at: 20)) == ["signedOut expired"])
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
        var running = FollowerScript.following()
        #expect(running.read(running.ended("ada", at: old)) == ["signedOut byUser"])
    }

    @Test func `The endings that are remembered are limited in number, and the newest stay`() {
        var script = FollowerScript.following()
        for number in 0..<1_000 { _ = script.give(script.ended("user\(number)", at: -60)) }
        #expect(script.give(script.bundle("user999", 1, begun: 60)) == [])
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "ada")))
    }

    @Test func `Tokens of the same generation replace each other: the store holds the ones that count`() {
        var script = FollowerScript.following()
        let bundle = script.bundle("ada", 0)
        let other = TokenBundle(
            accessToken: "access-other-0", refreshToken: nil, expiresAt: bundle.expiresAt, session: bundle.session,
            receivedAt: bundle.receivedAt, signedInAt: bundle.signedInAt)
        #expect(script.read(.active(other)) == [])
        #expect(script.machine.current?.token.value == "access-other-0")
    }
}
