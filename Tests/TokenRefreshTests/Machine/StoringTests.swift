import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// G11, G13, G14: the store, and whoever shares it.
@Suite struct StoringTests {
    @Test("G11: nobody gets the new tokens before they are stored")
    func persistThenPublish() {
        var script = MachineScript.signedIn(lifetime: .seconds(100))
        _ = script.pass(.seconds(100))
        _ = script.ask(1)
        #expect(script.answer() == ["save ada g1"])
        #expect(script.ask(2) == [])
        #expect(script.machine.readyToken(at: script.uptime) == nil)
        #expect(script.wrote() == ["1: ada g1", "2: ada g1"])
    }

    @Test("G11: when storing fails the tokens are used from memory, an event says so, and storing is tried again")
    func storingFails() {
        var script = MachineScript.signedIn()
        _ = script.refused(1, generation: 0)
        _ = script.answer()
        #expect(script.storeFails() == ["1: ada g1"])
        #expect(script.events.contains { if case .storeFailed = $0 { true } else { false } })
        #expect(script.pass(.seconds(1)) == ["save ada g1"])
        #expect(script.storeFails() == [])
        #expect(script.pass(.seconds(2)) == ["save ada g1"])
        #expect(script.wrote() == [])
        #expect(script.pass(.seconds(1_000)) == [])
    }

    @Test("G11: a store that hangs does not hang those who wait for the refresh")
    func storingHangs() {
        var script = MachineScript.signedIn()
        _ = script.refused(1, generation: 0)
        _ = script.answer()
        #expect(script.pass(.seconds(9)) == [])
        #expect(script.pass(.seconds(1)) == ["1: ada g1"])
    }

    @Test("G11: nobody gets a login's tokens before they are stored")
    func loginPersistsFirst() {
        var script = MachineScript()
        #expect(script.signIn(1, as: "bob") == ["save bob g0"])
        #expect(script.ask(2) == [])
        #expect(script.machine.readyToken(at: script.uptime) == nil)
        #expect(script.wrote() == ["signed in bob", "2: bob g0", "1: done"])
    }

    @Test("G11: a login whose tokens cannot be stored holds, and storing is tried again")
    func loginWithoutStore() {
        var script = MachineScript()
        _ = script.signIn(1, as: "bob")
        #expect(script.storeFails() == ["signed in bob", "1: done"])
        #expect(script.pass(.seconds(1)) == ["save bob g0"])
    }

    @Test("A logout that cannot delete the tokens holds, says so, and is tried again")
    func logoutWithoutStore() {
        var script = MachineScript.signedIn()
        _ = script.signOut(1)
        #expect(script.storeFails() == ["1: storeUnavailable"])
        #expect(script.ask(2) == ["2: notSignedIn"])
        #expect(script.pass(.seconds(1)) == ["delete"])
        #expect(script.wrote() == [])
    }

    @Test("G13: under the lease the store is read again, and a newer bundle is adopted without a call")
    func adoption() {
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.refused(1, generation: 0) == ["lease"])
        #expect(script.leased() == ["reread"])
        #expect(script.reread(.stored("ada", 1)) == ["1: ada g1", "release"])
        #expect(script.ask(2) == ["2: ada g1"])
    }

    @Test("G13: an adopted bundle whose token has expired meanwhile is refreshed under the same lease")
    func adoptionOfTheExpired() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refused(1, generation: 0)
        _ = script.leased()
        #expect(script.reread(.stored("ada", 3, expiresAt: script.date - 1)) == ["call g3"])
        #expect(script.answer() == ["save ada g4"])
        #expect(script.wrote() == ["1: ada g4", "release"])
    }

    @Test("G13: what the store holds already is no news, and the call is made")
    func nothingNewer() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refused(1, generation: 0)
        _ = script.leased()
        #expect(script.reread(.stored("ada", 0)) == ["call g0"])
        #expect(script.answer() == ["save ada g1"])
        #expect(script.wrote() == ["1: ada g1", "release"])
    }

    @Test("G13: on a rejection the store is read once more, and a newer bundle is adopted")
    func rejectedButNewer() {
        for isShared in [false, true] {
            var script = MachineScript.signedIn(isShared: isShared)
            _ = script.refused(1, generation: 0)
            if isShared {
                _ = script.leased()
                _ = script.reread(.stored("ada", 0))
            }
            #expect(script.answer(.rejected) == ["reread"])
            #expect(script.reread(.stored("ada", 1)).contains("1: ada g1"))
        }
    }

    @Test("G13: a lease that is not to be had in time is unavailable, and ends nothing")
    func leaseBusy() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refused(1, generation: 0)
        #expect(script.leaseFailed() == ["1: refreshUnavailable"])
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "ada")))
    }

    @Test("G13: another process has signed somebody else in; this one follows, and its requests end")
    func replacedElsewhere() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refused(1, generation: 0)
        _ = script.leased()
        #expect(script.reread(.stored("bob", 0)) == ["1: sessionEnded", "signed in bob", "release"])
        #expect(script.ask(2) == ["2: bob g0"])
    }

    @Test("G5, G13: another process has ended the session; this one follows, with the same reason")
    func endedElsewhere() {
        let reasons: [SignOutReason] = [
            .byUser, .expired(SessionEnding(status: 400)), .application("account disabled"),
        ]
        for reason in reasons {
            var script = MachineScript.signedIn(isShared: true)
            _ = script.refused(1, generation: 0)
            _ = script.leased()
            let ended = EndedSession(session: SessionID(rawValue: "ada"), reason: reason, date: script.date)
            let told = script.reread(.success(.ended(ended)))
            #expect(told.count == 3 && told.first?.hasPrefix("signedOut") == false, "\(told)")
            #expect(script.machine.published == .signedOut(reason))
            #expect(script.machine.status.lastEnding == reason)
        }
    }

    @Test("G13: a store that has lost the session gets it back: only the note of its end ends a session")
    func lostContent() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refused(1, generation: 0)
        _ = script.leased()
        #expect(script.reread(.success(.empty)) == ["call g0"])
        #expect(script.answer() == ["save ada g1"])
        #expect(script.wrote() == ["1: ada g1", "release"])
    }

    @Test("G13: an empty store is no logout while this process's own tokens are still on their way there")
    func emptyBecauseBehind() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "bob")
        _ = script.storeFails()
        _ = script.refused(2, generation: 0, of: "bob")
        _ = script.leased()
        #expect(script.reread(.success(.empty)) == ["call g0"])
    }

    @Test("G14: a shared store that cannot be read under the lease is unavailable, and the token is not spent")
    func unreadableUnderLease() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refused(1, generation: 0)
        _ = script.leased()
        #expect(script.reread(.failure(.locked)) == ["1: storeUnavailable", "release"])
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "ada")))
    }

    @Test("G14: a store that cannot say leaves the state unknown, deletes nothing, and is asked again")
    func unavailableAtStart() {
        var script = MachineScript()
        #expect(script.ask(1) == ["load"])
        #expect(script.ask(2) == [])
        #expect(script.loaded(.failure(.locked)) == ["1: storeUnavailable", "2: storeUnavailable"])
        #expect(script.machine.published == .unknown)
        #expect(script.pass(.seconds(1)) == ["load"])
        #expect(script.loaded(.success(.active(.stored("ada", 2)))) == ["signed in ada"])
        #expect(script.ask(3) == ["3: ada g2"])
    }

    @Test("G14: a store that hangs at start fails those who wait, and its answer is taken when it comes")
    func hangingAtStart() {
        var script = MachineScript()
        _ = script.ask(1)
        #expect(script.pass(.seconds(10)) == ["1: storeUnavailable"])
        #expect(script.machine.published == .unknown)
        #expect(script.ask(2) == [])
        #expect(script.loaded(.success(.active(.stored("ada", 2)))) == ["signed in ada", "2: ada g2"])
    }

    @Test("A store that truly holds nothing means that nobody has signed in")
    func emptyAtStart() {
        var script = MachineScript()
        #expect(script.tell(.asked(.restore, WaiterID(number: 1))) == ["load"])
        let never = "signedOut never"
        #expect(script.loaded(.success(.empty)) == [never, "1: \(never)"])
        #expect(script.ask(2) == ["2: notSignedIn"])
    }

    @Test("A stored bundle without a usable access token is refreshed; one without any token is corrupt")
    func strangeBundles() {
        let session = SessionID(rawValue: "ada")
        var script = MachineScript()
        _ = script.ask(1)
        let empty = TokenBundle(accessToken: "", refreshToken: "refresh-ada-0", session: session)
        #expect(script.loaded(.success(.active(empty))) == ["signed in ada", "call g0"])
        var hopeless = MachineScript()
        _ = hopeless.ask(1)
        let nothing = TokenBundle(accessToken: "", refreshToken: nil, session: session)
        #expect(hopeless.loaded(.success(.active(nothing))) == ["1: storeUnavailable"])
        #expect(hopeless.machine.published == .unknown)
    }
}
