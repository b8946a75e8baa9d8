import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G29: which bundle a follower uses, and which ending is its own. What is given is ordered; what is read counts.
@Suite struct FollowerOrderTests {
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

    @Test(arguments: [.byUser, .expired(), .application("disabled"), .lost()] as [SignOutReason])
    func `G29: the owner's ending is the follower's, once, with its reason`(reason: SignOutReason) {
        var script = FollowerScript.following()
        #expect(script.read(script.ended("ada", reason)) == [SessionState.signedOut(reason).text])
        #expect(script.read(script.ended("ada", reason)) == [])
        #expect(script.ask(1) == ["1: notSignedIn"])
        #expect(script.refused(2, script.token("ada", 0)) == ["2: sessionEnded"])
    }

    /// Tokens, as "ada 1 @7": generation 1 of a session with the ordinal 7, or "@7+30", which began 30 s after the
    /// start; "+30" is of an earlier version, and "?" of one that says neither. Ends, as "ada end expired @7".
    private func content(_ text: String) -> StoredSession {
        let parts = text.split(separator: " ").map(String.init)
        let (script, user, place) = (FollowerScript(), parts[0] == "none" ? "" : parts[0], parts[parts.count - 1])
        let numbers = place.split(separator: "+", omittingEmptySubsequences: false)
        let ordinal = place.hasPrefix("@") ? Int64(numbers[0].dropFirst()) : nil
        let seconds = numbers.count > 1 ? Double(numbers[1]) : nil
        if let generation = Int(parts[1]) {
            return .active(
                script.bundle(user, generation, begun: seconds ?? (ordinal == nil ? nil : 0), ordinal: ordinal))
        }
        let reasons: [String: SignOutReason] = [
            "lost": .lost(), "expired": .expired(), "replaced": .application("new"),
        ]
        return script.ended(user, reasons[parts[2]] ?? .byUser, at: seconds, upTo: ordinal ?? 0)
    }

    /// Of each content that is handed in, the session and the generation that are shown after it, or the end.
    @Test(arguments: [
        // Of one session the higher generation counts, however late a lower one arrives.
        "ada 0 @5: ada 0, ada 2 @5: ada 2, ada 1 @5: ada 2",
        // Of two sessions the later sign-in counts, with any generation.
        "ada 0 +0: ada 0, bob 0 +30: bob 0, ada 9 +0: bob 0",
        // No tokens of a session whose ending was seen come back, nor do those of an earlier sign-in.
        "ada 0 +0: ada 0, ada end +0: signedOut byUser, ada 7 +0: signedOut byUser",
        "ada end @5: signedOut byUser, ada 1 @5: signedOut byUser, zoe 1 @4: signedOut byUser, bob 0 @6: bob 0",
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
            let bundle = script.machine.current?.bundle
            #expect((bundle.map { "\($0.session) \($0.generation)" } ?? script.state) == step[1], "\(step[0])")
            #expect(bundle.map { "signed in \($0.session)" } ?? step[1] == script.state, "\(step[0])")
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

    /// What an owner stores whose clock was set back between two sign-ins, and one without ordinals.
    private static let histories = [
        ["ada 0 @7+600", "ada 1 @7+600", "ada end @7+700", "bob 0 @8+200", "bob 1 @8+200", "bob end @8+300"],
        ["ada 0 +0", "ada 1 +0", "ada end +100", "bob 0 +200", "bob 1 +200", "bob end +300"],
    ]

    @Test(arguments: histories, [false, true])
    func `G29: an owner's contents lead to the newest one in every order, never back`(history: [String], isRead: Bool) {
        var (script, walks) = (FollowerScript(), 0)
        _ = script.pass(.seconds(1_000))
        explore(script, history.map { ($0, content($0)) }, isRead, [], &walks)
        #expect(walks == 55_986, "six contents at most, of six kinds")
    }

    /// Shows a follower each content next, after those that it was shown, until it was shown six. What is read counts,
    /// and of what is given the last in the history.
    private func explore(
        _ script: FollowerScript, _ history: [(text: String, content: StoredSession)], _ isRead: Bool, _ shown: [Int],
        _ walks: inout Int
    ) {
        for index in history.indices where shown.count < 6 {
            var next = script
            _ = isRead ? next.read(history[index].content) : next.give(history[index].content)
            walks += 1
            let newest = history[isRead ? index : max(index, shown.max() ?? 0)].text
            let shows = next.machine.current.map { "\($0.bundle.session) \($0.bundle.generation) " }
            guard newest.contains(" end ") ? shows == nil : newest.hasPrefix(shows ?? "no user") else {
                Issue.record("\(shows ?? "no user") is shown: \((shown + [index]).map { history[$0].text })")
                return
            }
            explore(next, history, isRead, shown + [index], &walks)
        }
    }
}
