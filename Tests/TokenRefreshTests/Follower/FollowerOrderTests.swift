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

    /// Tokens, as "ada 1 @7": generation 1 of a session with the ordinal 7; "+30" is of an earlier version, whose
    /// session began 30 s after the start, and "?" of one that says neither. Ends, as "ada end expired @7".
    private func content(_ text: String) -> StoredSession {
        let parts = text.split(separator: " ").map(String.init)
        let (script, user, place) = (FollowerScript(), parts[0] == "none" ? "" : parts[0], parts[parts.count - 1])
        let ordinal = place.hasPrefix("@") ? Int64(place.dropFirst()) : nil
        let seconds = place.hasPrefix("+") ? Double(place.dropFirst()) : nil
        if let generation = Int(parts[1]) {
            return .active(script.bundle(user, generation, begun: ordinal == nil ? seconds : 0, ordinal: ordinal))
        }
        let reasons: [String: SignOutReason] = [
            "lost": .lost(), "expired": .expired(), "replaced": .application("new"),
        ]
        return script.ended(user, reasons[parts[2]] ?? .byUser, at: seconds, upTo: ordinal ?? 0)
    }

    /// Of each content that is handed in, the session and the generation that are shown after it, or the end.
    @Test(arguments: [
        // Two sign-ins with one ordinal do not replace each other.
        "ada 0 @7: ada 0, bob 4 @7: ada 0, ada 1 @7: ada 1",
        // Those without an ordinal or a date have no order, and come before all that have one.
        "ada 3 ?: ada 3, bob 1 ?: bob 1, zoe 0 +0: zoe 0, bob 9 ?: zoe 0",
        // Within one session only generation and end count. An earlier version that refreshes drops the ordinal, which
        // a clock that was set back is behind.
        "bob 0 @2000000000000: bob 0, bob 1 +0: bob 1, ada 4 +600: bob 1, bob end expired +-60: signedOut expired, "
            + "bob 2 +0: signedOut expired, ada 5 +600: signedOut expired",
        // The end of a later session, never seen before, ends the one that it replaced.
        "ada 0 @5: ada 0, zoe end @4: ada 0, bob end expired @6: signedOut expired, ada 1 @5: signedOut expired",
        // A sign-in over ada's session that the store could not take: its own session is in no store.
        "ada 0 @5: ada 0, none end replaced @5: signedOut new, ada 1 @5: signedOut new, bob 0 @6: bob 0",
        // The end of an earlier version ends its own session always, and others up to its date.
        "bob 0 +35: bob 0, ada end +30: bob 0, ada end +40: signedOut byUser, bob 1 +35: signedOut byUser",
        "bob 0 +35: bob 0, bob end +-600: signedOut byUser, zoe 0 +36: zoe 0",
        // A session that was lost goes on with its own tokens, and no earlier one does. A sign-out is no loss (G30).
        "bob 2 @6: bob 2, bob end lost @6: signedOut lost, bob 1 @6: signedOut lost, ada 9 @5: signedOut lost, "
            + "bob 2 @6: bob 2, bob end lost @6: signedOut lost, bob end @6: signedOut byUser, "
            + "bob end lost @6: signedOut byUser, bob 3 @6: signedOut byUser",
        // A later end replaces the reason of an earlier one, and a late one does not.
        "ada end @10: signedOut byUser, zoe end expired @5: signedOut byUser, bob end expired @20: signedOut expired",
    ])
    func `G29: ordinals, generations and ends decide about each content that is handed in`(row: String) {
        var script = FollowerScript(hasSource: false)
        for step in row.components(separatedBy: ", ").map({ $0.components(separatedBy: ": ") }) {
            _ = script.give(content(step[0]))
            let shown = script.machine.current.map { "\($0.bundle.session) \($0.bundle.generation)" } ?? script.state
            #expect(shown == step[1], "\(step[0])")
        }
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

/// G29: every order in which what an owner has stored can reach a follower, late and more than once.
@Suite struct FollowerExplorationTests {
    /// Two sessions of an owner, the later one last: tokens, a refresh, the end.
    private static let history = ["ada 0", "ada 1", "ada end", "bob 0", "bob 1", "bob end"]
    /// How many contents arrive.
    private static let length = 6

    /// How contents reach a follower, and from which version of an owner.
    enum Way: CaseIterable {
        case read, given, givenByEarlierVersion
    }

    /// The follower, and what it was shown.
    private struct Walk {
        let way: Way
        var script = FollowerScript()
        var shown: [Int] = []

        init(_ way: Way) {
            self.way = way
            _ = script.pass(.seconds(1_000))
        }

        mutating func take(_ index: Int) {
            shown.append(index)
            let parts = FollowerExplorationTests.history[index].split(separator: " ").map(String.init)
            let (user, begun, ordinal) = (parts[0], parts[0] == "ada" ? 0.0 : 200, parts[0] == "ada" ? Int64(7) : 8)
            let isOld = way == .givenByEarlierVersion
            let content: StoredSession =
                Int(parts[1]).map { .active(script.bundle(user, $0, begun: begun, ordinal: isOld ? nil : ordinal)) }
                ?? script.ended(user, at: begun + 100, upTo: isOld ? 0 : ordinal)
            _ = way == .read ? script.read(content) : script.give(content)
        }

        /// What the follower shows and must not: what is read counts, and of what is given the last in the history.
        var fault: String? {
            guard let index = way == .read ? shown.last : shown.max() else { return nil }
            let expected = FollowerExplorationTests.history[index]
            let bundle = script.machine.current?.bundle
            let shows = bundle.map { "\($0.session) \($0.generation)" }
            return shows == (expected.hasSuffix("end") ? nil : expected) ? nil : "\(shows ?? "no user") is shown"
        }
    }

    @Test(arguments: Way.allCases)
    func `G29: every order of an owner's contents leads to the newest one, and never back`(way: Way) {
        var walks = 0
        explore(Walk(way), &walks)
        #expect(walks == 55_986, "six contents at most, of six kinds")
    }

    private func explore(_ walk: Walk, _ walks: inout Int) {
        guard walk.shown.count < Self.length else { return }
        for index in Self.history.indices {
            var next = walk
            next.take(index)
            walks += 1
            if let fault = next.fault {
                Issue.record("\(fault): \(next.shown.map { Self.history[$0] }.joined(separator: ", "))")
                return
            }
            explore(next, &walks)
        }
    }
}
