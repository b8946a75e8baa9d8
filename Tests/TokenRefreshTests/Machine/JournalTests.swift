import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G30: signed out stays signed out, and vanished has a name.
@Suite struct JournalTests {
    private func script(isShared: Bool = true, journal: SessionJournalEntry = .init()) -> MachineScript {
        var script = MachineScript(isShared: isShared, hasJournal: true)
        script.journal = journal
        return script
    }

    /// A process that has read its journal, and asks its store.
    private func started(isShared: Bool = true, journal: SessionJournalEntry = .init()) -> MachineScript {
        var script = script(isShared: isShared, journal: journal)
        #expect(script.send(.requested(.restore, WaiterID(number: 1))) == ["journal"])
        #expect(script.journalRead() == ["load"])
        return script
    }

    private func signedIn(isShared: Bool = true) -> MachineScript {
        var script = script(isShared: isShared)
        _ = script.signIn(900, as: "ada", refreshToken: "refresh-ada-0")
        #expect(script.wrote() == ["signed in ada", "900: done", "note seen ada"])
        _ = script.journalWrote()
        return script
    }

    private func id(_ user: String) -> SessionID { SessionID(rawValue: user) }

    private func seen(_ user: String, at date: Date = Date(timeIntervalSince1970: 1_800_000_000))
        -> SessionJournalEntry
    {
        SessionJournalEntry(seen: SessionSighting(session: id(user), date: date, store: "the store"))
    }

    private func pending(
        _ users: String..., unread: Bool = false, reason: SignOutReason = .byUser,
        at date: Date = Date(timeIntervalSince1970: 1_799_999_000)
    ) -> SessionJournalEntry {
        let end = PendingSignOut(
            sessions: Set(users.map(id)), includesUnread: unread, reason: reason, date: date)
        return SessionJournalEntry(pending: [end])
    }

    private func stored(_ user: String, begun: TimeInterval) -> StoredSession {
        .active(
            TokenBundle(
                accessToken: "access-\(user)", refreshToken: "refresh-\(user)", session: id(user),
                signedInAt: Date(timeIntervalSince1970: 1_799_999_000 + begun)))
    }

    // MARK: The session that was here

    @Test func `G30: a session is noted once it is stored, and never when its token is used`() {
        var script = signedIn()
        #expect(script.journal.seen == seen("ada").seen)
        #expect(script.ask(1) == ["1: ada g0"])
        #expect(script.pass(.seconds(600)) == [])
        #expect(script.ask(2) == ["2: ada g0"])
    }

    @Test func `G30: a sign-in that is not stored is not noted`() {
        var script = script()
        _ = script.signIn(1, as: "ada")
        #expect(script.storeFails() == ["signed in ada", "1: done"])
        #expect(script.journalWrote() == [])
        #expect(script.pass(.seconds(2)) == ["save ada g0"])
        #expect(script.wrote() == ["note seen ada"])
    }

    @Test func `G30: the sighting is renewed by a refresh, once an hour`() {
        var script = signedIn(isShared: false)
        for _ in 1...3 {
            #expect(script.refresh(1) == ["call g\(script.machine.current?.bundle.generation ?? -1)"])
            #expect(!script.finish(lifetime: nil).contains("note seen ada"))
            _ = script.pass(.seconds(1_000))
        }
        _ = script.pass(.seconds(700))
        // The script stores the intent at once.
        #expect(script.refresh(1) == ["call g3", "note seen ada"])
    }

    @Test func `G30: a session that is found is noted`() {
        var script = started()
        #expect(
            script.loaded(.success(.active(.stored("ada", 3)))) == [
                "signed in ada", "1: signed in ada", "note seen ada",
            ])
        script = started(journal: seen("ada"))
        #expect(script.loaded(.success(.active(.stored("ada", 3)))) == ["signed in ada", "1: signed in ada"])
    }

    @Test(arguments: [false, true])
    func `G30: nothing waits for the note of a session, nor fails with it`(isShared: Bool) {
        var script = script(isShared: isShared)
        _ = script.signIn(1, as: "ada")
        #expect(script.wrote() == ["signed in ada", "1: done", "note seen ada"])
        #expect(script.ask(2) == ["2: ada g0"])
        #expect(script.journalFails() == [])
        #expect(script.machine.status.journalFailure == .locked)
        #expect(script.machine.isIdle)
        #expect(script.ask(3) == ["3: ada g0"], "it is not tried again with each request")
    }

    // MARK: Lost

    @Test(arguments: [false, true])
    func `G30: a session whose tokens have vanished is lost, and nothing is deleted or revoked`(isShared: Bool) {
        var script = started(isShared: isShared, journal: seen("ada"))
        #expect(script.loaded(.success(.empty)) == ["signedOut lost", "1: signedOut lost"])
        guard case .signedOut(.lost(let sighting)) = script.machine.published else { return #expect(Bool(false)) }
        #expect(sighting == seen("ada").seen)
        #expect(script.machine.status.lastEnding == .lost())
        #expect(script.machine.isIdle)
    }

    @Test func `G30: a lost session whose tokens are there again is signed in again`() {
        var script = started(journal: seen("ada"))
        _ = script.loaded(.success(.empty))
        #expect(script.changed(to: .active(.stored("ada", 3))) == ["signed in ada"])
        script = started(journal: seen("ada"))
        #expect(script.loaded(.success(.active(.stored("ada", 3)))) == ["signed in ada", "1: signed in ada"])
    }

    @Test func `G30: an empty store and an empty journal: there was no sign-in`() {
        var script = started()
        #expect(script.loaded(.success(.empty)) == ["signedOut never", "1: signedOut never"])
    }

    @Test func `G30: a tombstone says the reason, however old, and the note goes`() {
        var script = started(journal: seen("ada"))
        let end = SessionTombstone(session: id("ada"), reason: .expired(), date: script.date)
        #expect(script.loaded(.success(.tombstone(end))) == ["signedOut expired", "1: signedOut expired", "note over"])
        _ = script.journalWrote()
        #expect(script.journal.isEmpty)
        script = started(journal: seen("ada"))
        let old = SessionTombstone(session: id("ada"), reason: .expired(), date: script.date - 40 * 86_400)
        #expect(script.loaded(.success(.tombstone(old))) == ["signedOut never", "1: signedOut never"])
    }

    @Test func `G30: a running process keeps the session that the store has lost`() {
        var script = signedIn()
        #expect(script.changed(to: .empty) == [])
        #expect(script.ask(1) == ["1: ada g0"])
    }

    @Test func `G30: a sign-out of a lost session ends it for the day when its tokens come back`() {
        var script = started(journal: seen("ada"))
        _ = script.loaded(.success(.empty))
        #expect(script.signOut(2) == ["note ending ada", "signedOut byUser"])
        #expect(script.journalWrote() == ["2: done"])
        #expect(script.changed(to: .active(.stored("ada", 3))).contains("delete"))
        #expect(script.machine.published == .signedOut(.byUser))
    }

    @Test func `G30: a sign-out of a lost session that cannot be noted says so`() {
        var script = started(journal: seen("ada"))
        _ = script.loaded(.success(.empty))
        _ = script.signOut(2)
        #expect(script.journalFails() == ["2: signOutNotStored"])
    }

    // MARK: A journal that cannot be read

    @Test func `G30: an unreadable journal is not an empty one, and ends nothing`() {
        for content in [StoredSession.empty, .active(.stored("ada", 3))] {
            var script = script(journal: seen("ada"))
            _ = script.send(.requested(.restore, WaiterID(number: 1)))
            #expect(script.send(.journalRead(.failure(.locked))) == ["load"])
            #expect(script.machine.status.journalFailure == .locked)
            let state = content == .empty ? "signedOut never" : "signed in ada"
            #expect(script.loaded(.success(content)).prefix(2) == [state, "1: \(state)"])
        }
    }

    @Test func `G30, G25: a journal that hangs is waited for during half of the store's limit`() {
        var script = script(journal: seen("ada"))
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        #expect(script.pass(.seconds(5)) == ["load"])
        #expect(script.loaded(.success(.empty)) == ["signedOut never", "1: signedOut never"])
        #expect(script.journalRead() == [], "what it says now is older than the store")
        #expect(script.machine.isIdle)
    }

    @Test func `G26: a journal that hangs is read once, however often the store is`() {
        var script = script()
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        #expect(script.pass(.seconds(5)) == ["load"])
        _ = script.loaded(.failure(.locked))
        #expect(script.pass(.seconds(8)) == ["load"])
    }

    // MARK: Signed out stays signed out

    @Test func `G30: a sign-out is noted, then stored, then the note goes`() {
        for isShared in [false, true] {
            var script = signedIn(isShared: isShared)
            #expect(script.signOut(1).filter { !$0.hasPrefix("revoke") } == ["note ending ada", "signedOut byUser"])
            #expect(script.journalWrote() == ["delete"])
            #expect(script.journal.seen == nil && script.journal.pending.first?.sessions == [id("ada")])
            #expect(script.wrote().filter { !$0.hasPrefix("revoke") } == ["note ended ada", "1: done"])
            _ = script.journalWrote()
            #expect(script.journal.isEmpty)
            #expect(script.machine.isIdle)
        }
    }

    @Test func `G30: a sign-out that the store does not take lasts if the journal has it`() {
        var script = signedIn()
        _ = script.signOut(1)
        _ = script.journalWrote()
        #expect(script.storeFails().last == "1: done")
        #expect(script.machine.status.isSignOutPending)
    }

    @Test func `G30: a sign-out that neither place takes throws, and says that it does not last`() {
        var script = signedIn()
        _ = script.signOut(1)
        #expect(script.journalFails() == ["delete"])
        #expect(script.storeFails() == ["note ending ada", "revoke ada g0", "1: signOutNotStored"])
        #expect(script.journalFails() == [])
        #expect(script.pass(.seconds(2)) == ["delete"], "both are tried again while the process lives")
        _ = script.storeFails()
        _ = script.journalWrote()
        #expect(script.journal.pending.count == 1)
    }

    @Test func `G30, G25: the store waits for a journal that hangs during half of its limit`() {
        var script = signedIn()
        #expect(script.signOut(1) == ["note ending ada", "signedOut byUser"])
        #expect(script.pass(.seconds(5)) == ["delete"])
        #expect(script.pass(.seconds(5)).contains("1: signOutNotStored"))
        #expect(script.wrote() == [])
        #expect(script.journalWrote() == ["note ended ada"])
        _ = script.journalWrote()
        #expect(script.journal.isEmpty)
    }

    @Test(arguments: [false, true])
    func `S23: a sign-out of the journal is completed before anything is restored`(isShared: Bool) {
        var script = script(isShared: isShared, journal: pending("ada"))
        _ = script.ask(1)
        _ = script.journalRead()
        let actions = script.loaded(.success(.active(.stored("ada", 3)))) + script.wrote()
        #expect(Set(actions) == ["delete", "1: sessionEnded", "signedOut byUser", "revoke ada g3", "note ended ada"])
        #expect(script.lastContent?.replacement(for: .success(.active(.stored("ada", 3)))) != nil)
        _ = script.journalWrote()
        #expect(script.journal.isEmpty)
    }

    @Test func `G30: a sign-out of the journal keeps its reason`() {
        var script = started(journal: pending("ada", reason: .application("disabled")))
        #expect(script.loaded(.success(.active(.stored("ada", 3)))).contains("signedOut disabled"))
    }

    @Test func `G30: the expiry of a session is completed without a revocation`() {
        var script = started(journal: pending("ada", reason: .expired()))
        let actions = script.loaded(.success(.active(.stored("ada", 3)))) + script.wrote()
        #expect(actions.contains("signedOut expired") && !actions.contains("revoke ada g3"))
    }

    @Test(arguments: [false, true])
    func `G30: a sign-out of the journal leaves another session alone, and is over`(isShared: Bool) {
        let date = Date(timeIntervalSince1970: isShared ? 1_799_996_400 : 1_800_000_000)
        var script = started(isShared: isShared, journal: pending("ada", at: date))
        #expect(
            script.loaded(.success(.active(.stored("bob", 0))))
                == ["signed in bob", "1: signed in bob", "note over"])
        #expect(script.journalWrote() == ["note seen bob"])
        _ = script.journalWrote()
        #expect(script.journal.pending.isEmpty && script.journal.seen?.session == id("bob"))
    }

    @Test func `G30: what the journal says after the read of the store began does not end there`() {
        var script = script(journal: pending("ada"))
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        _ = script.pass(.seconds(5))
        _ = script.journalRead()
        #expect(!script.loaded(.success(.active(.stored("bob", 0)))).contains("note over"))
    }

    @Test func `G30: what the journal says after the read of the store began is no loss`() {
        var script = script(journal: seen("ada"))
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        _ = script.pass(.seconds(5))
        _ = script.journalRead()
        #expect(script.loaded(.success(.empty)) == ["signedOut never", "1: signedOut never"])
    }

    @Test func `G30: in an empty store a sign-out of the journal stays, as the tokens may come back`() {
        var script = started(journal: pending("ada"))
        #expect(script.loaded(.success(.empty)) == ["signedOut byUser", "1: signedOut byUser"])
        #expect(script.changed(to: .active(.stored("ada", 3))) == ["delete"])
        #expect(script.wrote().contains("revoke ada g3"))
        #expect(script.machine.published == .signedOut(.byUser))
    }

    @Test func `G5, G30: a process that is in the session follows the sign-out that another one has noted`() {
        var script = signedIn()
        script.journal = pending("ada")
        #expect(script.pass(.seconds(3_600)) == [])
        #expect(script.changed(to: .active(.stored("ada", 0))) == ["note seen ada"])
        #expect(script.journalWrote().contains("signedOut byUser"))
    }

    @Test func `G30: a sign-in after a sign-out that was not stored replaces it`() {
        var script = signedIn()
        _ = script.signOut(1)
        _ = script.journalWrote()
        _ = script.storeFails()
        _ = script.signIn(2, as: "bob")
        #expect(script.wrote().contains("note ended ada"))
        _ = script.journalWrote()
        _ = script.journalWrote()
        #expect(script.journal.pending.isEmpty && script.journal.seen?.session == id("bob"))
    }

    @Test func `G30: the end of the session before it leaves the sign-out of a session in the journal`() {
        var script = signedIn()
        _ = script.signIn(1, as: "bob")
        #expect(script.signOut(2) == ["note ending ada+bob", "signedOut byUser"])
        _ = script.journalWrote()
        #expect(script.wrote().contains("note ended ada"), "bob is stored over ada")
        _ = script.journalWrote()
        #expect(script.journal.pending.map(\.sessions) == [[id("bob")]])
    }

    @Test func `G4, G30: a rejected session is not noted as ending where others may have newer tokens`() {
        var script = MachineScript(isShared: true, hasJournal: true)
        _ = script.signIn(900, as: "ada", refreshToken: "refresh-ada-0")
        _ = script.wrote()
        _ = script.journalWrote()
        _ = script.refused(1, generation: 0)
        _ = script.leased(reading: .stored("ada", 0))
        _ = script.respond(.rejected)
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        let actions = script.wrote()
        #expect(actions.contains("note ended ada") && actions.contains("signedOut expired"))
    }

    @Test func `G30: where no tombstone is kept, the note goes before the tokens of a rejected session`() {
        var script = signedIn(isShared: false)
        _ = script.refused(1, generation: 0)
        #expect(script.respond(.rejected) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == ["note ended ada"])
        #expect(script.journalWrote() == ["delete"])
    }

    // MARK: A sign-out before the first read

    @Test func `EG1, G30: a sign-out before the first read is noted, and survives the process`() {
        var script = script(journal: seen("ada"))
        #expect(script.signOut(1) == ["note ending unread", "journal"])
        #expect(script.journalRead() == ["load"])
        #expect(script.loaded(.failure(.locked)) == [], "its caller waits for the journal")
        #expect(script.journalWrote() == ["1: done"])
        #expect(script.journal.pending.first?.sessions == [id("ada")])

        var next = started(journal: script.journal)
        #expect(next.loaded(.success(.active(.stored("ada", 3)))).contains("signedOut byUser"))
    }

    @Test func `EG1, G30: a sign-out that neither the store nor the journal takes throws`() {
        var script = script()
        _ = script.signOut(1)
        #expect(script.journalFails() == [])
        _ = script.journalRead()
        #expect(script.loaded(.failure(.locked)) == ["1: signOutNotStored"])
    }

    @Test(arguments: [(-1.0, true), (1, false)])
    func `EG1, G30: it ends a session that began before it, whatever its name, and no later one`(
        begun: TimeInterval, ends: Bool
    ) {
        var script = started(journal: pending(unread: true))
        let actions = script.loaded(.success(stored("bob", begun: begun)))
        #expect(actions.contains("signedOut byUser") == ends)
        if ends { _ = script.journalWrote() }
        _ = script.wrote()
        for _ in 1...3 { _ = script.journalWrote() }
        #expect(script.journal.pending.isEmpty)
    }

    @Test func `EG1, G30: a sign-in replaces a sign-out that waits for the first read`() {
        var script = script(journal: seen("ada"))
        _ = script.signOut(1)
        _ = script.journalWrote()
        _ = script.signIn(2, as: "bob")
        #expect(script.wrote().contains("note replaced by bob, seen bob"))
        _ = script.journalWrote()
        #expect(script.journal.pending.allSatisfy { !$0.includesUnread })
    }
}
