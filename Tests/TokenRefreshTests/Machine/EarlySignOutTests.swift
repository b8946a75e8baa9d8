import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G9: a sign-out before the store was read is kept until a read has shown what it ends.
@Suite struct EarlySignOutTests {
    /// A process that is asked to sign out before anything else.
    private func script(isShared: Bool) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        #expect(script.signOut(1) == ["load"])
        return script
    }

    private func tombstone(_ reason: SignOutReason, at date: Date) -> StoredSession {
        .tombstone(SessionTombstone(session: SessionID(rawValue: "ada"), reason: reason, date: date))
    }

    @Test(arguments: [false, true])
    func `G9: a sign-out before the first read ends the session that is found, and revokes its tokens`(isShared: Bool) {
        var script = MachineScript(isShared: isShared)
        #expect(script.ask(1) == ["load"])
        #expect(script.signOut(2) == [])
        #expect(script.machine.published == .unknown)
        let actions = script.loaded(.success(.active(.stored("ada", 3)))) + script.wrote()
        #expect(Set(actions) == ["delete", "1: sessionEnded", "signedOut byUser", "revoke ada g3", "2: done"])
        #expect(script.ask(3) == ["3: notSignedIn"])
        #expect(script.machine.isIdle)
    }

    @Test(arguments: [false, true])
    func `G9: a sign-out of a store that cannot be read fails its caller, and is fulfilled when it can`(isShared: Bool)
    {
        var script = script(isShared: isShared)
        #expect(script.loaded(.failure(.locked)) == ["1: storeUnavailable"])
        #expect(script.machine.published == .unknown)
        #expect(!script.machine.isIdle)
        for _ in 1...3 {
            #expect(script.pass(.seconds(20)) == ["load"])
            #expect(script.loaded(.failure(.locked)) == [])
        }
        #expect(script.pass(.seconds(20)) == ["load"])
        let actions = script.loaded(.success(.active(.stored("ada", 3))))
        #expect(actions.contains("signedOut byUser") && !actions.contains("signed in ada"))
        _ = script.wrote()
        #expect(script.lastContent?.replacement(for: .success(.active(.stored("ada", 3)))) != nil)
        #expect(script.machine.isIdle)
    }

    @Test func `G9: requests while a sign-out waits for the store fail as the store does, and get no token`() {
        var script = script(isShared: true)
        _ = script.loaded(.failure(.locked))
        #expect(script.ask(2) == ["load"])
        #expect(script.loaded(.failure(.locked)) == ["2: storeUnavailable"])
        #expect(script.ask(3) == ["load"])
        #expect(script.loaded(.success(.active(.stored("ada", 0)))).contains("3: sessionEnded"))
    }

    @Test func `G9: a sign-out whose caller is cancelled is fulfilled`() {
        var script = script(isShared: true)
        #expect(script.cancel(1) == ["1: cancelled"])
        #expect(!script.machine.isIdle, "an engine that is not idle is not released")
        #expect(script.loaded(.success(.active(.stored("ada", 0)))) == ["delete", "signedOut byUser"])
        #expect(script.wrote() == ["revoke ada g0"])
    }

    @Test func `G9: a sign-out of a store that hangs fails its caller, and the late result counts`() {
        var script = script(isShared: true)
        #expect(script.pass(.seconds(10)) == ["1: storeUnavailable"])
        #expect(script.loaded(.success(.active(.stored("ada", 0)))) == ["delete", "signedOut byUser"])
    }

    @Test func `G9: a caller that waits for all work waits for a sign-out that is not fulfilled`() {
        var script = script(isShared: true)
        _ = script.loaded(.failure(.locked))
        #expect(script.send(.requested(.settle, WaiterID(number: 2))) == [])
        _ = script.pass(.seconds(2))
        _ = script.loaded(.success(.active(.stored("ada", 0))))
        #expect(script.wrote() == ["revoke ada g0", "2: done"])
    }

    @Test func `G9: a second sign-out joins the first`() {
        var script = script(isShared: true)
        #expect(script.signOut(2, .application("later")) == [])
        #expect(script.loaded(.success(.active(.stored("ada", 0)))).last == "signedOut byUser")
        #expect(script.wrote() == ["revoke ada g0", "1: done", "2: done"])
    }

    @Test func `G9: a sign-out that is repeated after a failure reads the store again at once`() {
        var script = script(isShared: true)
        _ = script.loaded(.failure(.locked))
        #expect(script.signOut(2) == ["load"])
        #expect(script.loaded(.success(.empty)) == ["signedOut byUser", "2: done"])
    }

    // MARK: The order in which they were asked for

    @Test func `G9: a sign-in after the sign-out replaces it`() {
        var script = script(isShared: true)
        #expect(script.signIn(2, as: "bob") == ["save bob g0"])
        #expect(script.loaded(.success(.active(.stored("ada", 0)))) == [])
        #expect(script.wrote() == ["signed in bob", "1: done", "2: done"])
    }

    @Test(arguments: [(-5.0, false), (5, true)])
    func `G9: a session that another process began after the sign-out stays`(after: TimeInterval, stays: Bool) {
        var script = script(isShared: true)
        let asked = script.date
        _ = script.loaded(.failure(.locked))
        #expect(script.pass(.seconds(20)) == ["load"])
        let bob = TokenBundle.stored("bob", 0, expiresAt: asked + 3_600, receivedAt: asked + after)
        let actions = script.loaded(.success(.active(bob)))
        #expect(actions == (stays ? ["signed in bob"] : ["delete", "signedOut byUser"]))
    }

    @Test(arguments: [(1, 10.0), (0, nil)] as [(Int, TimeInterval?)], [(-5.0, false), (5, true)])
    func `G9: such a session stays when it was refreshed since, and when its token says no lifetime`(
        token: (generation: Int, age: TimeInterval?), begun: (after: TimeInterval, stays: Bool)
    ) {
        var script = script(isShared: true)
        let asked = script.date
        _ = script.loaded(.failure(.locked))
        _ = script.pass(.seconds(20))
        let bob = TokenBundle(
            accessToken: "access-bob-\(token.generation)", refreshToken: "refresh-bob",
            session: SessionID(rawValue: "bob"), generation: token.generation,
            receivedAt: token.age.map { asked + $0 }, signedInAt: asked + begun.after)
        let actions = script.loaded(.success(.active(bob)))
        #expect(actions == (begun.stays ? ["signed in bob"] : ["delete", "signedOut byUser"]))
    }

    // MARK: What the read finds

    @Test func `G9: a sign-out that finds no session has nothing to do`() {
        var script = script(isShared: true)
        #expect(script.loaded(.success(.empty)) == ["signedOut byUser", "1: done"])
        script = self.script(isShared: true)
        #expect(
            script.loaded(.success(tombstone(.application("disabled"), at: script.date))) == [
                "signedOut disabled", "1: done",
            ])
    }

    @Test(arguments: [TokenStoreError.Code.corrupt, .insecure, .unsupportedVersion])
    func `G9: a sign-out removes content that no read can show`(code: TokenStoreError.Code) {
        var script = script(isShared: true)
        #expect(
            script.loaded(.failure(TokenStoreError(code, reason: "not a session"))) == ["delete", "signedOut byUser"])
        #expect(script.wrote() == ["1: done"])
    }

    @Test func `G30: a sign-out that the journal takes late is not meant for a session that was first seen after it`() {
        let asked = Date(timeIntervalSince1970: 1_800_000_000)
        let end = PendingSignOut(sessions: [], includesUnread: true, reason: .byUser, date: asked)
        let id = SessionID(rawValue: "ada")
        func noted(_ seen: Date?) -> SessionJournalEntry {
            let entry = SessionJournalEntry(seen: SessionSighting(session: id, date: seen))
            return JournalEdit(notes: [.ending(end)]).applied(to: entry, store: "the store", at: asked + 60)
        }
        #expect(noted(asked + 1).seen?.session == id && noted(asked + 1).pending == [end])
        // A clock that was set back has said when the second one was seen: that says nothing.
        for seen in [asked, asked + 61, nil] {
            #expect(noted(seen).seen == nil && noted(seen).pending.first?.sessions == [id])
        }
    }

    @Test func `G9, G30: a sign-in after it is spared, killed before the journal knows, on a clock that was set back`()
    {
        var script = MachineScript(hasJournal: true)
        _ = script.signOut(1)
        _ = script.journalWrote()
        script.date -= 2 * 86_400
        #expect(script.signIn(2, as: "ada", isNoted: false) == ["note sparing ada"], "the store waits for the note")
        #expect(script.journalWrote() == ["save ada g0"])
        guard let stored = script.lastContent?.bundle else { return #expect(Bool(false)) }

        for (content, isSpared) in [(stored, true), (TokenBundle.stored("bob", 0), false)] {
            var next = MachineScript(hasJournal: true)
            (next.journal, next.date) = (script.journal, script.date + 60)
            _ = next.send(.requested(.restore, WaiterID(number: 1)))
            _ = next.journalRead()
            #expect(next.loaded(.success(.active(content))).contains("signed in ada") == isSpared)
            while next.lastEdit != nil { _ = next.journalWrote() }
            _ = next.wrote()
            while next.lastEdit != nil { _ = next.journalWrote() }
            #expect(next.journal.pending.isEmpty, "it is over, as it is fulfilled")
        }
    }

    @Test(arguments: [false, true])
    func `G9, G30: a process whose sign-out waits for its store spares a sign-in of another one`(isSpared: Bool) {
        var script = MachineScript(hasJournal: true)
        #expect(script.signOut(1) == ["note ending unread", "journal"])
        _ = script.journalWrote()
        _ = script.journalRead()
        _ = script.loaded(.failure(.locked))
        let bob = TokenBundle.stored("bob", 0)
        if isSpared { script.journal.pending[0].spared = [bob.session] }
        #expect(script.pass(.seconds(2)) == ["journal"])
        #expect(script.journalRead() == ["load"])
        #expect(script.loaded(.success(.active(bob))).contains("signed in bob") == isSpared)
    }

    /// What a clock that was set back lets a sign-out before a first read be meant for, unless the journal spares it.
    private func journal(sparing session: SessionID? = nil) -> SessionJournalEntry {
        let date = Date(timeIntervalSince1970: 1_800_000_000 + 2 * 86_400)
        var end = PendingSignOut(sessions: [], includesUnread: true, reason: .byUser, date: date)
        end.spared = session.map { [$0] } ?? []
        return SessionJournalEntry(pending: [end])
    }

    @Test(arguments: [false, true])
    func `G9, G30: a start that has read the journal before another process signs in reads it again`(isSpared: Bool) {
        var script = MachineScript(isShared: true, hasJournal: true)
        script.journal = journal()
        #expect(script.ask(1) == ["journal"])
        #expect(script.journalRead() == ["load"])
        let bob = StoredSession.active(.stored("bob", 0))
        #expect(script.send(.read(.load, .success(bob), ownerMayCall: false)) == ["journal"])
        if isSpared { script.journal = journal(sparing: SessionID(rawValue: "bob")) }
        #expect(script.journalRead() == ["load"])
        #expect(script.loaded(.success(bob)).contains("1: bob g0") == isSpared)
    }

    @Test(arguments: [SessionJournalEntry(), nil])
    func `G9, G30: a process that is signed out reads the journal again before it ends the sign-in of another one`(
        later: SessionJournalEntry?
    ) {
        var script = MachineScript(isShared: true, hasJournal: true)
        script.journal = journal()
        _ = script.ask(1)
        _ = script.journalRead()
        #expect(script.loaded(.success(.empty)) == ["signedOut byUser", "1: notSignedIn"])
        let bob = StoredSession.active(.stored("bob", 0))
        #expect(script.changed(to: bob) == ["journal"])
        #expect(script.changed(to: bob) == [], "it is decided once the journal was read")
        #expect(script.send(.journalRead(.failure(.locked))) == [], "an unreadable one ends nothing")
        #expect(script.changed(to: bob) == ["journal"])
        #expect(script.changed(to: .active(.stored("cat", 0))) == [])
        #expect(script.journalRead() == ["journal"], "that read may have started before the last change")
        if let later { script.journal = later }
        #expect(script.journalRead() == ["check"])
        #expect(
            script.checked(.active(.stored("cat", 0))).first
                == (later == nil ? "note over, ending cat" : "signed in cat"))
    }

    @Test func `G9, G30: a sign-out that the journal does not have is meant for a session that an earlier one spares`()
    {
        var script = MachineScript(hasJournal: true)
        let bob = TokenBundle.stored("bob", 0)
        var end = PendingSignOut(sessions: [], includesUnread: true, reason: .byUser, date: script.date - 60)
        end.spared = [bob.session]
        script.journal.pending = [end]
        _ = script.signOut(1)
        _ = script.journalFails()
        _ = script.journalRead()
        #expect(script.loaded(.success(.active(bob))).contains("signedOut byUser"))
    }

    @Test(arguments: [false, true])
    func `G9, G30: a sign-in whose clock was set before the journal could take it is not spared`(isSet: Bool) {
        var script = MachineScript(isShared: true, hasJournal: true)
        _ = script.signIn(1, as: "ada", isNoted: false)
        _ = script.pass(.seconds(1))
        if isSet { script.date += 2 * 86_400 }
        _ = script.signIn(2, as: "bob", isNoted: false)
        #expect(script.journalWrote() == ["note sparing bob"])
        _ = script.journalFails()
        _ = script.pass(.seconds(1))
        if isSet { script.date += 2 * 86_400 }
        #expect(script.signOut(3).first == (isSet ? "note ending ada+bob" : "note sparing bob, ending ada+bob"))
    }

    @Test func `G30: a sign-out stays noted until the store has the sign-in that replaces it`() {
        var script = MachineScript(hasJournal: true)
        _ = script.signOut(1)
        _ = script.journalWrote()
        _ = script.pass(.milliseconds(1))
        _ = script.signIn(2, as: "ada")
        _ = script.storeFails()
        #expect(script.journal.pending.map(\.spared) == [[SessionID(rawValue: "ada")]])
        _ = script.pass(.seconds(2))
        #expect(script.wrote() == ["note replaced by ada, seen ada"])
        _ = script.journalWrote()
        #expect(script.journal.pending.isEmpty)
    }

    @Test func `G25, G30: a sign-in waits for a journal that hangs during half of the store's limit, or that fails`() {
        var script = MachineScript(hasJournal: true)
        #expect(script.signIn(1, as: "ada", isNoted: false) == ["note sparing ada"])
        #expect(script.pass(.seconds(5)) == ["save ada g0"])
        script = MachineScript(hasJournal: true)
        _ = script.signIn(1, as: "ada", isNoted: false)
        #expect(script.journalFails() == ["save ada g0"])
    }

    @Test func `G9, G30: a sign-out after a sign-in that an earlier one spares is not that earlier one`() {
        let (ada, date) = (SessionID(rawValue: "ada"), Date(timeIntervalSince1970: 1_800_000_000))
        func apply(_ notes: [JournalEdit.Note], to entry: SessionJournalEntry = .init()) -> SessionJournalEntry {
            JournalEdit(notes: notes).applied(to: entry, store: "the store", at: date + 2)
        }
        let unread = PendingSignOut(sessions: [], includesUnread: true, reason: .byUser, date: date)
        let spared = apply([.ending(unread), .sparing(ada, begunAt: date + 1)])
        #expect(spared.pending.map(\.spared) == [[ada]])
        #expect(apply([.ending(unread)], to: spared).pending == [unread], "it ends ada too")
        for (begun, isSpared) in [(-1.0, false), (0, false), (0.1, true), (3, true)] {
            let noted = apply([.ending(unread), .sparing(ada, begunAt: date + begun)])
            #expect(noted.pending.first?.spared.isEmpty == !isSpared, "\(begun): it may have come since")
        }
        let back = JournalEdit(notes: [.ending(unread), .sparing(ada, begunAt: date - 1)])
            .applied(to: SessionJournalEntry(), store: "the store", at: date - 86_400)
        #expect(back.pending == [unread], "the clock was set back since")
        let ahead = PendingSignOut(sessions: [], includesUnread: true, reason: .byUser, date: date + 3)
        let later = apply([.ending(ahead), .sparing(ada, begunAt: date)])
        #expect(later.pending.first?.spared == [ada], "the clock was set back")
        #expect(apply([.sparing(ada, begunAt: date + 1)]).isEmpty, "there is nothing to be spared from")
        let seen = SessionJournalEntry(seen: SessionSighting(session: ada, date: date), pending: spared.pending)
        #expect(apply([.sparing(ada, begunAt: date + 1)], to: seen).pending.first?.spared == [ada], "once")
        let many = apply([.ending(unread)] + (0..<20).map { .sparing(SessionID(rawValue: "\($0)"), begunAt: date + 1) })
        #expect(many.pending.first?.spared.map(\.rawValue) == (12..<20).map { "\($0)" })

        let stored = apply([.replaced(by: ada)], to: spared)
        #expect(stored.isEmpty, "it is over")
        let since = apply([.ending(unread), .sparing(ada, begunAt: date), .replaced(by: ada)])
        #expect(since.pending == [unread], "what came after the sign-in is meant for it")
        let second = PendingSignOut(sessions: [], includesUnread: true, reason: .byUser, date: date + 1)
        #expect(apply([.ending(unread), .ending(second)]).pending == [second])
        #expect(apply([.ending(second), .ending(unread)]).pending == [second, unread], "the clock was set back")

        var log = JournalLog()
        let isWanted = log.want(.ending(unread))
        _ = log.next()
        _ = log.wrote(.success(spared))
        let isWantedAgain = log.want(.ending(unread))
        _ = log.next()
        _ = log.wrote(.success(apply([.ending(unread)])))
        let isSecondWanted = log.want(.ending(second))
        _ = log.next()
        _ = log.wrote(.success(apply([.ending(second)])))
        let isWantedBack = log.want(.ending(unread))
        #expect(isWantedBack, "the clock was set back")
        #expect(isWanted && isWantedAgain && isSecondWanted, "what the journal has is not meant for later ones")
    }

    @Test func `G30: a read of the journal that ends after a write of it does not hide what was written`() {
        var script = MachineScript(hasJournal: true)
        #expect(script.ask(1) == ["journal"])
        _ = script.signOut(2)
        let earlier = script.journal
        _ = script.journalWrote()
        #expect(script.send(.journalRead(.success(earlier))) == ["load"])
        #expect(script.loaded(.success(.empty)).contains("note fulfilled"))
    }

    @Test func `G25, G30: a sign-out that is asked for again does not make the first one wait for the journal anew`() {
        var script = MachineScript(hasJournal: true)
        _ = script.signOut(1)
        _ = script.pass(.seconds(4))
        _ = script.signOut(2)
        #expect(script.pass(.seconds(1)) == ["load"])
    }

    @Test func `G9: a second sign-out before the first read is meant for a session that has begun since the first one`()
    {
        var script = MachineScript(isShared: true)
        #expect(script.signOut(1) == ["load"])
        _ = script.pass(.seconds(1))
        let bob = TokenBundle(
            accessToken: "access-bob", refreshToken: "refresh-bob", session: SessionID(rawValue: "bob"),
            signedInAt: script.date)
        _ = script.pass(.seconds(1))
        _ = script.signOut(2, .application("disabled"))
        #expect(script.loaded(.success(.active(bob))) == ["delete", "signedOut byUser"])
    }

    @Test func `G9: a sign-out whose end cannot be stored fails its caller, and is stored later`() {
        var script = script(isShared: true)
        _ = script.loaded(.success(.active(.stored("ada", 0))))
        #expect(script.storeFails() == ["revoke ada g0", "1: storeUnavailable"])
        #expect(script.pass(.seconds(2)) == ["delete"])
        #expect(script.changed(to: .active(.stored("ada", 0))) == [], "it is not signed in again")
    }

    @Test func `G30: a store that is not shared loses nothing of a session that a sign-in has replaced unread`() {
        var script = MachineScript(hasJournal: true)
        let ada = SessionID(rawValue: "ada")
        script.journal = SessionJournalEntry(seen: SessionSighting(session: ada, date: script.date))
        _ = script.signIn(1, as: "bob")
        #expect(script.signOut(2).first == "note ending bob")
        #expect(script.wrote() == ["1: done"])
        #expect(script.journalWrote() == ["delete"])
        #expect(script.wrote() == ["note ended ada+bob", "2: done"])
        _ = script.journalWrote()
        #expect(script.journal.seen == nil, "nothing is left that could vanish")
    }
}
