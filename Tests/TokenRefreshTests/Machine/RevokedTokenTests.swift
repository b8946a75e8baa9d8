import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G9: which tokens are revoked when a session ends, and when. Tokens in use are not.
@Suite struct RevokedTokenTests {
    @Test(arguments: [false, true])
    func `G9: a sign-in that was not preceded by a read, and its end, revoke what they remove`(isShared: Bool) {
        var script = MachineScript(isShared: isShared)
        _ = script.signIn(1, as: "bob")
        var ended = script
        let removed = WriteOutcome.written(replaced: .stored("ada", 3))
        #expect(script.wrote(removed).filter(\.isRevocation) == ["revoke only ada g3"])
        _ = ended.storeFails()
        #expect(ended.signOut(2).contains("delete") && ended.lastContent?.mayRemoveUnread == true)
        guard isShared else { return }
        #expect(Set(ended.wrote(removed).filter(\.isRevocation)) == ["revoke ada g3", "revoke bob g0"])
        var stored = MachineScript.signedIn()
        #expect(stored.signOut(1).contains("delete") && stored.lastContent?.mayRemoveUnread == false)
    }

    @Test func `G9: a sign-in revokes the session that it follows once, unless newer tokens of it were stored`() {
        for (generation, revocations) in [
            (0, ["revoke only ada g0"]), (1, ["revoke only ada g1", "revoke only ada g0"]),
        ] {
            var script = MachineScript.signedIn(isShared: true)
            _ = script.signIn(1, as: "bob")
            let outcome = WriteOutcome.written(replaced: .stored("ada", generation))
            #expect(script.wrote(outcome).filter(\.isRevocation) == revocations)
        }
        var quick = MachineScript.signedIn(isShared: true)
        _ = quick.signIn(1, as: "bob")
        _ = quick.signIn(2, as: "cleo")
        #expect(quick.wrote(.written(replaced: .stored("ada", 0))).filter(\.isRevocation) == ["revoke only ada g0"])
        #expect(quick.wrote(.written(replaced: .stored("bob", 0))).filter(\.isRevocation) == ["revoke only bob g0"])
        var script = MachineScript.signedIn()
        #expect(script.signIn(1, as: "bob").contains("revoke only ada g0"))
        #expect(script.wrote(.written(replaced: .stored("ada", 0))).filter(\.isRevocation) == [])
    }

    @Test func `G9: a sign-out that finds another process's session revokes what that has not, and then follows it`() {
        for (token, revocations) in [("refresh-ada-0", []), ("another", ["revoke only ada g0"])] {
            var script = MachineScript.signedIn(isShared: true)
            _ = script.signOut(1)
            let bob = StoredSession.active(.stored("bob", 0, refreshToken: token))
            #expect(script.wrote(.superseded(by: bob)) == revocations + ["1: done", "check"])
            #expect(script.checked(bob) == ["signed in bob"])
        }
    }

    @Test func `G9: a sign-in that finds another process's session, and the sign-out after it, revoke beside that`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.signIn(1, as: "bob")
        _ = script.signOut(2)
        let found = WriteOutcome.superseded(by: .active(.stored("cleo", 0)))
        #expect(script.wrote(found).filter(\.isRevocation) == ["revoke only ada g0"])
        #expect(script.wrote(found).filter(\.isRevocation) == ["revoke only bob g0"])
        #expect(script.wrote(found) == [], "it has ended")
    }

    @Test func `G9: tokens that wait for a write are revoked when their session has ended or is replaced`() throws {
        var script = MachineScript.calling(for: .refresh)
        let call = try #require(script.call)
        _ = script.signOut(2, isStored: true)
        _ = script.signIn(3, as: "bob", isStored: true)
        #expect(script.refresh(4, reading: .stored("bob", 0)) == ["call g0"])
        _ = script.respond()
        #expect(script.storeFails() == ["4: signed in bob"])
        #expect(script.respond(call: call) == [], "ada's new tokens wait until bob's are stored")
        #expect(script.refresh(5) == ["reread"])
        var replaced = script
        let ended = script.reread(.success(.ended("bob")))
        #expect(Set(ended).isSuperset(of: ["signedOut byUser", "revoke ada g1"]))
        let followed = replaced.reread(.stored("cleo", 0))
        #expect(Set(followed).isSuperset(of: ["signed in cleo", "revoke only ada g1"]))
    }

    @Test func `G9: tokens that a later session has, too, are not revoked`() {
        for (accessToken, refreshToken, isRevoked) in [
            ("access-ada-0", "another", false), ("another", "refresh-ada-0", false), ("another", "another", true),
        ] {
            var script = MachineScript.signedIn()
            let new = TokenRefreshResult(accessToken: accessToken, refreshToken: refreshToken)
            let actions = script.signIn(2, as: "bob", with: new)
            #expect(actions.contains("revoke only ada g0") == isRevoked, "\(accessToken), \(refreshToken)")
        }
        // An older version has stored an empty refresh token where there is none: two sessions do not share it.
        func stored(_ user: String) -> TokenBundle { .stored(user, 0, refreshToken: "") }
        var script = MachineScript(isShared: true)
        _ = script.start(with: stored("ada"))
        _ = script.signIn(2, as: "bob")
        #expect(script.wrote(.superseded(by: .active(stored("cleo")))).contains("revoke only ada g0"))
    }
}

extension String {
    fileprivate var isRevocation: Bool { hasPrefix("revoke") }
}

/// G9: a sign-out before the store was read ends at once what the store may hold, and is written until it is stored.
@Suite struct EarlySignOutTests {
    /// A process that is asked to sign out before anything else.
    private func script() -> MachineScript {
        var script = MachineScript(isShared: true)
        #expect(script.signOut(1) == ["delete", "signedOut byUser"])
        return script
    }

    /// Up to which ordinal the last write ends sessions.
    private func end(_ script: MachineScript) -> SessionOrdinal? { script.lastContent?.note(isShared: true)?.ordinal }

    @Test(arguments: [false, true])
    func `G9: a sign-out before the first read ends what its write finds, its tokens and its key`(isShared: Bool) {
        var script = MachineScript(isShared: isShared)
        #expect(script.ask(1) == ["load"])
        #expect(script.signOut(2) == ["delete", "signedOut byUser", "1: notSignedIn"])
        let found = TokenBundle.stored("ada", 3, boundTo: "key-ada")
        #expect(script.loaded(.success(.active(found))) == [], "the write decides")
        #expect(script.ask(3) == ["3: notSignedIn"])
        #expect(script.wrote(.written(replaced: found)) == ["revoke ada g3", "release the key key-ada", "2: done"])
        #expect(script.machine.isIdle)
    }

    @Test(arguments: [false, true])
    func `G9: a store that fails or hangs fails the caller, and the sign-out is tried until it is stored`(hangs: Bool) {
        var script = script()
        #expect((hangs ? script.pass(.seconds(10)) : script.storeFails()) == ["1: storeUnavailable"])
        #expect(script.settle(2) == [], "it waits for the sign-out")
        if hangs { _ = script.storeFails() }
        for _ in 1...3 {
            #expect(script.pass(.seconds(2), isStored: false) == ["delete"])
            #expect(script.changed(to: .active(.stored("ada", 3))) == [], "it is not signed in again")
        }
        #expect(script.machine.status.isSignOutPending && !script.machine.isIdle)
        #expect(script.pass(.seconds(2)) == ["delete"])
        #expect(script.wrote(.written(replaced: .stored("ada", 3))) == ["revoke ada g3", "check"])
        #expect(script.checked(.ended("ada")) == ["2: done"])
    }

    @Test func `G9: it ends what was read before it, or else what came before it, and a later session is followed`() {
        let script = MachineScript(isShared: true)
        let (now, later) = (SessionOrdinal(at: script.date), SessionOrdinal(at: script.date + 60))
        let bob = StoredSession.active(.stored("bob", 0, ordinal: later))
        let rows: [(StoreResult, SessionOrdinal?, SessionOrdinal)] = [
            (.failure(.locked), nil, now.previous), (.failure(.locked), later, later),
            (.success(.empty), nil, SessionOrdinal.unknown.next), (.success(bob), nil, later),
        ]
        for (read, noted, ordinal) in rows {
            var script = script
            script.readOrder(read, noted: noted)
            #expect(script.signOut(1) == ["delete", "signedOut byUser"])
            #expect(end(script) == ordinal)
            #expect(script.replaces(bob) == (ordinal >= later))
            guard ordinal < later else { continue }
            #expect(script.wrote(.superseded(by: bob)) == ["1: done", "check"])
            #expect(script.checked(bob) == ["signed in bob"])
        }
    }

    @Test(arguments: [false, true])
    func `G9: a sign-in replaces it, and ends up to the same ordinal`(hasFailed: Bool) {
        var script = script()
        let ordinal = end(script)
        if hasFailed { _ = script.storeFails() }
        #expect(script.signIn(2, as: "bob") == (hasFailed ? ["save bob g0"] : []))
        if !hasFailed { #expect(script.wrote() == ["1: done", "save bob g0"]) }
        #expect(end(script) == ordinal)
        let replaced = WriteOutcome.written(replaced: .stored("ada", 3))
        #expect(script.wrote(replaced) == ["revoke only ada g3", "signed in bob", "2: done"])
    }

    @Test func `G9: of several sign-outs the first says the reason, and each caller gets its response`() {
        var script = script()
        #expect(script.signOut(2, .application("later")) == [])
        #expect(script.cancel(1) == ["1: cancelled"])
        #expect(script.storeFails() == ["2: storeUnavailable"])
        #expect(script.signOut(3) == ["delete"], "at once")
        #expect(script.signOut(4) == [])
        #expect(script.wrote(.written(replaced: .stored("ada", 3))) == ["revoke ada g3", "3: done", "4: done"])
        #expect(script.machine.status.lastEnding == .byUser)
    }

    @Test(arguments: [false, true])
    func `G30: a sign-out of a lost session ends it for the day when its tokens come back`(isShared: Bool) {
        var script = MachineScript(isShared: isShared)
        let seen = SessionSighting(session: SessionID(rawValue: "ada"), ordinal: .second(5))
        #expect(script.ask(1) == ["load"])
        let texts = script.loaded(.success(.empty), ending: .lost(seen), noted: .second(5))
        #expect(texts == ["signedOut lost", "1: notSignedIn"])
        #expect(script.signOut(2) == ["delete", "signedOut byUser"])
        #expect(end(script) == .second(5))
        #expect(script.wrote() == ["2: done"])
    }
}
