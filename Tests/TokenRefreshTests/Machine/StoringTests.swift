import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G11, G13, G14: the store, and the processes that share it.
@Suite struct StoringTests {
    @Test func `G11: no request uses new tokens before they are stored`() {
        var script = MachineScript.signedIn(lifetime: .seconds(100))
        _ = script.ask(1, after: .seconds(100))
        #expect(script.respond() == ["save ada g1"])
        #expect(script.ask(2) == [])
        #expect(script.machine.readyToken(at: script.uptime) == nil)
        #expect(script.wrote() == ["1: ada g1", "2: ada g1"])
        var signIn = MachineScript()
        #expect(signIn.signIn(1, as: "bob") == ["save bob g0"])
        #expect(signIn.ask(2) == [])
        #expect(signIn.machine.readyToken(at: signIn.uptime) == nil)
        #expect(signIn.wrote() == ["signed in bob", "2: bob g0", "1: done"])
    }

    @Test func `G11: tokens that cannot be stored, or not in time, are used from memory, and storing is retried`() {
        var script = MachineScript.refreshing()
        _ = script.respond()
        var hanging = script
        #expect(hanging.pass(.seconds(9), then: .seconds(1)) == ["1: ada g1"])
        #expect(script.storeFails() == ["1: ada g1"])
        #expect(script.events.contains { if case .storeFailed = $0 { true } else { false } })
        #expect(script.pass(.seconds(1), isStored: false) == ["save ada g1"])
        #expect(script.pass(.seconds(2), isStored: true) == ["save ada g1"])
        #expect(script.pass(.seconds(1_000)) == [])
    }

    @Test func `A sign-in and a sign-out that cannot be stored hold, and are tried again: a repeated one at once`() {
        var script = MachineScript()
        #expect(script.signIn(1, as: "bob", isStored: false) == ["save bob g0", "signed in bob", "1: done"])
        #expect(script.pass(.seconds(1)) == ["save bob g0"])
        var signedOut = MachineScript.signedIn()
        _ = signedOut.signOut(1)
        #expect(signedOut.storeFails() == ["1: storeUnavailable"])
        var repeated = signedOut
        #expect(signedOut.ask(2) == ["2: notSignedIn"])
        #expect(signedOut.pass(.seconds(1), isStored: true) == ["delete"])
        #expect(repeated.signOut(2, isStored: true) == ["delete", "2: done"])
    }

    @Test func `G13: under the lease the store is read again, and a newer bundle is adopted without a call`() {
        let date = MachineScript.start
        let (corrupt, empty) = (TokenStoreError(.corrupt, reason: "no session"), StoredSession.empty)
        let rows: [(found: Result<StoredSession, TokenStoreError>, texts: [String])] = [
            (.success(.active(.stored("ada", 1))), ["1: ada g1", "release"]),
            // Its token has expired meanwhile.
            (.success(.active(.stored("ada", 3, expiresAt: date - 1))), ["call g3"]),
            (
                .success(.active(.stored("ada", 1, refreshToken: "", expiresAt: date - 1))),
                ["1: noRefreshToken", "release"]
            ),
            (.success(.active(.stored("bob", 0))), ["1: sessionEnded", "signed in bob", "release"]),
            // G14: a store that has lost the session, and one that cannot be read.
            (.success(.active(.stored("ada", 0))), ["call g0"]), (.success(empty), ["call g0"]),
            (.failure(corrupt), ["call g0"]), (.failure(.locked), ["1: storeUnavailable", "release"]),
        ]
        for (found, texts) in rows {
            var script = MachineScript.refreshing(isShared: true)
            #expect(script.leased(reading: found) == texts)
            guard texts == ["call g0"] else { continue }
            #expect(script.respond(isStored: true) == ["save ada g1", "1: ada g1", "release"])
        }
    }

    @Test func `G13: on a rejection the store is read once more, and a newer bundle is adopted`() {
        for isShared in [false, true] {
            var script = MachineScript.calling(isShared: isShared)
            #expect(script.respond(.rejected) == ["reread"])
            #expect(script.reread(.stored("ada", 1)).contains("1: ada g1"))
        }
    }

    @Test func `G5, G13: when another process has ended the session, this one follows with the same reason`() {
        for reason in [SignOutReason.byUser, .expired(SessionEnding(status: 400)), .application("disabled")] {
            var script = MachineScript.refreshing(isShared: true)
            let actions = script.leased(reading: .success(.ended("ada", reason)))
            #expect(actions.count == 3 && actions.first?.hasPrefix("signedOut") == false, "\(actions)")
            #expect(script.machine.published == .signedOut(reason))
            #expect(script.machine.status.lastEnding == reason)
        }
    }

    @Test(arguments: [TokenStoreError.Code.unavailable, .corrupt, .insecure, .unsupportedVersion])
    func `G14: an unreadable store leaves the state unknown, deletes nothing, and is read again`(
        code: TokenStoreError.Code
    ) {
        var script = MachineScript()
        #expect(script.ask(1) == ["load"])
        #expect(script.ask(2) == [])
        let error = TokenStoreError(code, reason: "scripted")
        #expect(script.loaded(.failure(error)) == ["1: storeUnavailable", "2: storeUnavailable"])
        #expect(script.state == "unknown")
        #expect(script.pass(.seconds(1)) == ["load"])
        #expect(script.loaded(.success(.active(.stored("ada", 2)))) == ["signed in ada"])
        #expect(script.ask(3) == ["3: ada g2"])
    }

    @Test func `G13, G14: a change is read after the first read, or at once in the pause after one that failed`() {
        var script = MachineScript(isShared: true)
        #expect(script.ask(1) == ["load"])
        var reading = script
        #expect(reading.send(.storeChanged) == [], "the read is under way")
        #expect(reading.loaded(.success(.empty)).contains("check"))
        #expect(reading.checked(.active(.stored("bob", 0))) == ["signed in bob"])
        #expect(script.loaded(.failure(.locked)) == ["1: storeUnavailable"])
        #expect(script.send(.storeChanged) == ["load"])
        #expect(script.loaded(.success(.active(.stored("ada", 2)))) == ["signed in ada"])
    }

    @Test func `G14: a store that hangs at start fails the waiters, and its late result is used`() {
        var script = MachineScript()
        _ = script.ask(1)
        #expect(script.pass(.seconds(10)) == ["1: storeUnavailable"])
        #expect(script.state == "unknown")
        #expect(script.ask(2) == [])
        #expect(script.loaded(.success(.active(.stored("ada", 2)))) == ["signed in ada", "2: ada g2"])
    }

    @Test func `A stored bundle without a usable access token is refreshed`() {
        var script = MachineScript()
        #expect(script.start(with: .stored("ada", 0, accessToken: "")) == ["signed in ada", "call g0"])
    }
}
