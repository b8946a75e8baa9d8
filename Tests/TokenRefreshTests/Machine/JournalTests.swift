import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G30: what a write notes beside its store, what is settled once it has ended, and what the engine makes of a note.
@Suite struct JournalTests {
    private let date = MachineScript.start
    private let disabled = SignOutReason.application("disabled")
    private let ada = TokenBundle.stored("ada", 3, signedInAt: MachineScript.start, ordinal: .second(5))
    private let bob = TokenBundle.stored("bob", 0, ordinal: .second(9))

    private func end(_ seconds: Double, generation: Int? = nil, _ reason: SignOutReason = .byUser) -> PendingSignOut {
        PendingSignOut(upTo: .second(seconds), generation: generation, reason: reason, date: date)
    }

    private func seen(_ user: String, _ seconds: Double? = 5, at date: Date? = nil) -> SessionSighting {
        SessionSighting(session: SessionID(rawValue: user), date: date, ordinal: seconds.map { .second($0) })
    }

    private func signOut(of scope: EndScope) -> StoreContent { .tombstone(disabled, at: date, of: scope) }

    // MARK: The notes of a write

    @Test func `G30: a write notes what it ends, but for what a server has rejected in a shared store`() {
        let expired = StoreContent.tombstone(.expired(), at: date, of: .rejected(ada, replacing: .second(4)))
        let contents: [(StoreContent, inShared: PendingSignOut?, inPlain: PendingSignOut?)] = [
            (.bundle(ada, over: .lower(ends: .second(4))), end(4), end(4)),
            // One that has no ordinal ends too.
            (.bundle(ada, over: .lower(ends: .unknown)), end(0), end(0)),
            (.bundle(ada, over: .lower(ends: nil)), nil, nil), (.bundle(ada, over: .older), nil, nil),
            (.bundle(ada, over: .exactly(ada)), nil, nil), (expired, nil, end(5, generation: 3, .expired())),
            (signOut(of: .session(ada.session, upTo: .second(6))), end(6, disabled), end(6, disabled)),
            (signOut(of: .unread(upTo: .second(6))), end(6, disabled), end(6, disabled)),
        ]
        for (content, inShared, inPlain) in contents {
            #expect(content.note(isShared: true) == inShared && content.note(isShared: false) == inPlain, "\(content)")
        }
        let entry = SessionJournalEntry(pending: end(5, generation: 3, .expired()))
        #expect(entry.ending(of: ada) == .expired() && entry.ending(of: ada.moved(to: 4)) == nil, "G13: it is newer")
    }

    @Test func `G30: of two notes the one that reaches further stays, and of two that reach as far the first`() {
        for (first, second, firstStays) in [
            (end(5), end(6), false), (end(6), end(5), true), (end(5), end(5, disabled), true),
            (end(5, generation: 2), end(5), false), (end(5), end(5, generation: 2), true),
            (end(5, generation: 2), end(5, generation: 3), false), (end(5, generation: 3), end(5, generation: 2), true),
            (end(6, generation: 2), end(5), true),
        ] {
            var entry = SessionJournalEntry(pending: first)
            #expect(entry.holds(second) == firstStays)
            entry.note(second)
            #expect(entry.pending == (firstStays ? first : second))
        }
    }

    @Test func `G30: a write that has ended settles the notes up to its own ordinal`() {
        let (removed, left) = (WriteOutcome.written(replaced: ada), WriteOutcome.superseded(by: .active(bob)))
        let written = WriteOutcome.written(replaced: nil)
        let signIn = StoreContent.bundle(bob, over: .lower(ends: .second(5)))
        let end = signOut(of: .session(ada.session, upTo: .second(5)))
        let unread = signOut(of: .unread(upTo: .second(5)))
        // Of a note of the end of ada's session, and of its sighting.
        let rows: [(content: StoreContent, WriteOutcome, rest: [String])] = [
            (signIn, removed, ["seen bob"]), (signIn, left, ["seen ada"]),
            (.bundle(bob, over: .lower(ends: .second(4))), removed, ["end", "seen bob"]),
            (.bundle(ada, over: .older), written, ["end", "seen ada"]),
            (end, removed, []), (end, written, []), (end, left, []),
            (signOut(of: .session(ada.session, upTo: .second(4))), removed, ["end"]),
            (.tombstone(.expired(), at: date, of: .rejected(ada, replacing: nil)), removed, []),
            (.tombstone(.expired(), at: date, of: .rejected(ada, replacing: nil)), left, ["end", "seen ada"]),
            (.bundle(.stored("cat", 0, ordinal: .second(4)), over: .lower(ends: .second(5))), removed, ["seen ada"]),
            // Tokens that were not there may come back: they end then.
            (unread, removed, []), (unread, written, ["end"]), (unread, left, []),
        ]
        for (content, outcome, rest) in rows {
            let entry = SessionJournalEntry(seen: seen("ada"), pending: self.end(5))
            let settled = content.settled(entry, outcome, in: "the store", at: date)
            let texts = [settled.pending.map { _ in "end" }, settled.seen.map { "seen \($0.session)" }]
            #expect(texts.compactMap(\.self) == rest, "\(content), \(outcome)")
        }
    }

    @Test func `G30: a note of an earlier version names its sessions, and lasts until the store has one`() throws {
        let note = """
            {"sessions": ["bob"], "unread": true, "spared": ["cat"], \
            "end": {"session": "bob", "reason": "byUser", "date": 0}}
            """
        let entry = try JSONDecoder().decode(SessionJournalEntry.self, from: Data("{\"pending\": [\(note)]}".utf8))
        for (user, seconds, isEnded) in [("bob", 2e9, true), ("ada", 5, true), ("ada", 1e9, false), ("cat", 5, false)] {
            #expect((entry.ending(of: .stored(user, 0, ordinal: .second(seconds))) == .byUser) == isEnded)
        }
        let signIn = StoreContent.bundle(bob, over: .lower(ends: .second(4)))
        let written = WriteOutcome.written(replaced: nil)
        for (content, outcome, count) in [
            (signIn, written, 0), (signIn, .superseded(by: .active(bob)), 1),
            (signOut(of: .unread(upTo: .last)), written, 1),
        ] {
            #expect(content.settled(entry, outcome, in: "the store", at: date).former.count == count)
        }
    }

    @Test func `G30: a session is noted as seen once an hour, unless it is to end or another one came after it`() {
        for (entry, isNoted) in [
            (SessionJournalEntry(), true), (.init(seen: seen("bob", 4)), true), (.init(seen: seen("bob", nil)), true),
            (.init(seen: seen("bob", 6)), false), (.init(pending: end(4)), true), (.init(pending: end(5)), false),
        ] {
            var entry = entry
            entry.see(ada, in: "the store", at: date)
            #expect((entry.seen?.session == ada.session) == isNoted)
        }
        for (sighting, isMissing) in [
            (nil, true), (seen("bob", at: date), true), (seen("ada", nil, at: date), true), (seen("ada"), true),
            (seen("ada", at: date - 3_599), false), (seen("ada", at: date - 3_600), true),
            (seen("ada", at: date + 3_600), true),
        ] {
            #expect(SessionJournalEntry(seen: sighting).lacks(ada, at: date) == isMissing)
        }
        for (days, isRecent) in [(30.0, true), (31, false), (-31, false)] {
            #expect(seen("ada", at: date - days * 86_400).isRecent(at: date) == isRecent)
        }
        #expect(seen("ada").isRecent(at: date), "of which no date is known")
        // A lost session ends up to the hour at which an earlier version has seen it.
        for (sighting, ordinal) in [
            (nil, nil), (seen("ada"), .second(5)), (seen("ada", nil, at: date), SessionOrdinal(at: date)),
            (seen("ada", nil), .unknown),
        ] as [(SessionSighting?, SessionOrdinal?)] {
            #expect(SessionJournalEntry(seen: sighting).ordinal == ordinal)
        }
    }

    // MARK: What the engine makes of it

    @Test(arguments: [false, true])
    func `SE1: after a sign-in that is not stored, the session before it does not come back`(isShared: Bool) throws {
        var script = MachineScript.signedIn(isShared: isShared)
        let ada = try #require(script.machine.current?.bundle)
        _ = script.signIn(1, as: "bob")
        let (signIn, bob) = (try #require(script.lastContent), try #require(script.machine.current?.bundle))
        #expect(script.storeFails().contains("1: done"))
        var journal = SessionJournalEntry()
        journal.note(try #require(signIn.note(isShared: isShared)))
        #expect(journal.ending(of: ada) == .byUser && journal.ending(of: bob) == nil)

        var next = MachineScript(isShared: isShared, hasJournal: true)
        #expect(next.ask(1) == ["load"])
        let revoked = ["revoke ada g0"]
        let ended = next.loaded(.success(.active(ada)), ending: .byUser, noted: journal.ordinal)
        #expect(ended == ["delete", "1: sessionEnded", "signedOut byUser"] + (isShared ? [] : revoked))
        #expect(next.replaces(ada))
        let removed = WriteOutcome.written(replaced: ada)
        #expect(next.lastContent?.settled(journal, removed, in: "the store", at: date).isEmpty == true)
        #expect(next.wrote(removed) == (isShared ? revoked : []))
        #expect(next.machine.isIdle)
    }

    @Test(arguments: [false, true])
    func `SE5: an attempt ends for the noted reason, before its call and after a rejection`(isRejected: Bool) {
        var script = isRejected ? MachineScript.calling() : MachineScript.refreshing(isShared: true)
        #expect((isRejected ? script.respond(.rejected) : script.leased()) == ["reread"])
        let actions = script.reread(.success(.active(.stored("ada", 0))), ending: disabled)
        #expect(actions == ["delete", "1: sessionEnded", "signedOut disabled"])
        #expect(script.wrote() == ["revoke ada g0", "release"])
        // So does a process that is in the session.
        var idle = MachineScript.signedIn(isShared: true)
        #expect(idle.changed(to: .active(.stored("ada", 0)), ending: disabled) == ["delete", "signedOut disabled"])
        #expect(idle.wrote() == ["revoke ada g0", "check"])
        #expect(idle.checked(.ended("ada", disabled)) == [])
    }

    @Test func `S23: the noted end of an expired session is completed without a revocation`() {
        var script = MachineScript(isShared: false, hasJournal: true)
        #expect(script.restore(1) == ["load"])
        let actions = script.loaded(.success(.active(ada)), ending: .expired())
        #expect(actions == ["delete", "signedOut expired", "1: signedOut expired"])
        #expect(script.wrote(.written(replaced: ada)) == [])
    }

    @Test func `G30: a session that comes back is ended where that is noted, and its end ends what it has replaced`() {
        var script = MachineScript(isShared: true)
        #expect(script.ask(1) == ["load"])
        #expect(script.loaded(.success(.empty), ending: .byUser) == ["signedOut byUser", "1: notSignedIn"])
        #expect(script.changed(to: .active(ada), ending: .byUser) == ["delete"])
        #expect(script.wrote(.written(replaced: ada)) == ["revoke ada g3", "check"])

        let bob = StoredSession.active(.stored("bob", 0))
        for isAttempt in [false, true] {
            var running = isAttempt ? MachineScript.refreshing(isShared: true) : .signedIn(isShared: true)
            if isAttempt { #expect(running.leased() == ["reread"]) }
            let ended =
                isAttempt ? running.reread(.success(bob), ending: .byUser) : running.changed(to: bob, ending: .byUser)
            #expect(ended.contains("signedOut byUser") && ended.contains("check") && !ended.contains("delete"))
            #expect(running.checked(bob, ending: .byUser) == ["delete"], "it is fulfilled")
        }
        var beginning = MachineScript(isShared: true)
        _ = beginning.signIn(1, as: "ada")
        #expect(beginning.send(.storeChanged) == ["check"])
        #expect(beginning.checked(bob, ending: .byUser) == [], "a sign-in goes on")
    }

    @Test func `G9, G30: the noted end of a session that is found reaches no sign-in that was seen since`() throws {
        var script = MachineScript.signedIn(isShared: true)
        let ada = try #require(script.machine.current?.bundle)
        let bob = TokenBundle.stored("bob", 0, ordinal: ada.ordinal.next)
        _ = script.signOut(1)
        #expect(script.wrote(.superseded(by: .active(bob))).contains("check"))
        // The read began before bob signed in.
        #expect(script.checked(.active(ada), ending: .byUser) == ["delete"])
        #expect(script.replaces(ada) && !script.replaces(bob))
    }

    @Test(arguments: [false, true])
    func `G30: a store that holds nothing says why, and deletes, revokes and ends nothing`(isShared: Bool) {
        for (ending, text) in [(SignOutReason.lost(seen("ada")), "lost"), (.byUser, "byUser"), (nil, "never")] {
            var script = MachineScript(isShared: isShared)
            #expect(script.restore(1) == ["load"])
            let actions = script.loaded(.success(.empty), ending: ending)
            #expect(actions == ["signedOut \(text)", "1: signedOut \(text)"])
            #expect(script.machine.status.lastEnding == ending ?? .never)
            #expect(script.machine.isIdle && script.ask(2) == ["2: notSignedIn"])
            guard isShared else { continue }
            #expect(script.changed(to: .active(.stored("ada", 3))) == ["signed in ada"], "the tokens are there again")
            #expect(script.changed(to: .empty, ending: ending) == [])
        }
    }

    @Test func `G30: a sign-out that its store does not take lasts where the journal has it, and says so otherwise`() {
        for (hasJournal, isNoted, response) in [
            (true, true, "done"), (true, false, "signOutNotStored"), (false, false, "storeUnavailable"),
        ] {
            for hangs in [false, true] {
                var script = MachineScript(hasJournal: hasJournal)
                _ = script.signOut(1)
                if isNoted { #expect(script.send(.noted(version: script.lastWrite)) == []) }
                #expect((hangs ? script.pass(.seconds(10)) : script.storeFails()) == ["1: \(response)"])
                #expect(script.machine.status.isSignOutPending)
                if hangs { _ = script.storeFails() }
                #expect(script.pass(.seconds(2), isStored: true) == ["delete"])
                #expect(!script.machine.status.isSignOutPending)
            }
        }
    }
}
