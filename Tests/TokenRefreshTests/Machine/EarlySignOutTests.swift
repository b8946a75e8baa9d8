import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G9: a sign-out before the store was read ends at once what the store may hold, and is written until it is stored.
@Suite struct EarlySignOutTests {
    /// A process that is asked to sign out before anything else.
    private func script(isShared: Bool = true) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        #expect(script.signOut(1) == ["delete", "signedOut byUser"])
        return script
    }

    /// Up to which ordinal the last write ends sessions.
    private func end(_ script: MachineScript) -> SessionOrdinal? { script.lastContent?.note(isShared: true)?.ordinal }

    @Test(arguments: [false, true])
    func `G9: a sign-out before the first read ends the session that its write finds, with its tokens and its key`(
        isShared: Bool
    ) {
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
    func `G9: a store that fails, or hangs, fails the caller, and the sign-out is tried until it is stored`(hangs: Bool)
    {
        var script = script()
        #expect((hangs ? script.pass(.seconds(10)) : script.storeFails()) == ["1: storeUnavailable"])
        #expect(script.send(.requested(.settle, WaiterID(number: 2))) == [], "it waits for the sign-out")
        if hangs { _ = script.storeFails() }
        for _ in 1...3 {
            #expect(script.pass(.seconds(2)) == ["delete"])
            #expect(script.storeFails() == [])
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
        for (read, noted, ordinal) in [
            (Result.failure(TokenStoreError.locked), nil as SessionOrdinal?, now.previous),
            (.failure(.locked), later, later), (.success(.empty), nil, .unknown.next), (.success(bob), nil, later),
        ] {
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
