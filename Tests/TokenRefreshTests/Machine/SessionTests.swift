import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G4, G5, G9, G12, G22, G23: when a session ends, and what must end with it.
@Suite struct SessionTests {
    @Test(arguments: [
        TokenRefreshError.unavailable, .init(.unavailable, retryAfter: .seconds(3)), .verdict(of: CancellationError()),
        .verdict(of: URLError(.notConnectedToInternet)), .init(.init(rawValue: "application-defined")),
    ])
    func `G4: a failure that is not a rejection does not end the session`(error: TokenRefreshError) {
        var script = MachineScript.refreshing()
        #expect(script.respond(error) == ["1: refreshUnavailable"])
        #expect(script.state == "signed in ada")
    }

    @Test func `G5: a rejection ends the session once for all waiters, and later requests cause no call`() {
        var script = MachineScript.signedIn()
        for waiter in 1...100 { _ = script.refused(waiter, generation: 0) }
        #expect(script.rejected() == ["delete"])
        let ending = script.wrote()
        #expect(ending.filter { $0.hasPrefix("signedOut") } == ["signedOut expired"])
        #expect(ending.filter { $0.hasSuffix("sessionEnded") }.count == 100)
        #expect(!ending.contains("delete"))
        for waiter in 101...105 { #expect(script.ask(waiter) == ["\(waiter): notSignedIn"]) }
        #expect(script.refused(106, generation: 0) == ["106: sessionEnded"])
    }

    @Test func `G9: a response after the sign-out is dropped, nothing is stored, and its tokens are revoked`() {
        var script = MachineScript.refreshing()
        #expect(script.signOut(2) == ["delete", "1: sessionEnded", "signedOut byUser", "revoke ada g0"])
        var second = script
        #expect(second.signOut(3, isStored: true) == ["2: done", "3: done"], "it waits for the deletion of the first")
        #expect(second.signOut(4) == ["4: done"])
        #expect(script.wrote() == ["2: done"])
        var unchanged = script
        let same = TokenRefreshResult(accessToken: "access-ada-1", refreshToken: "refresh-ada-0")
        #expect(unchanged.respond(same) == [], "it was revoked with the session")
        #expect(script.respond() == ["revoke ada g1"])
        #expect(script.ask(3) == ["3: notSignedIn"])
    }

    @Test func `G9: a sign-out while new tokens are being stored deletes them, and revokes the newest`() {
        var script = MachineScript.refreshing()
        #expect(script.respond() == ["save ada g1"])
        #expect(
            script.signOut(2, isStored: true) == ["1: sessionEnded", "signedOut byUser", "revoke ada g1", "delete"])
        #expect(script.wrote() == ["2: done"])
    }

    @Test func `G9: a sign-in while the last user's new tokens are being stored leaves its own in the store`() {
        for isStored in [true, false] {
            var script = MachineScript.refreshing()
            #expect(script.respond() == ["save ada g1"])
            let actions = script.signIn(2, as: "bob", isStored: isStored)
            #expect(actions.first == "1: sessionEnded" && actions.contains("revoke only ada g1"))
            #expect(actions.last == "save bob g0")
            #expect(script.ask(3) == [])
            #expect(script.wrote().contains("3: bob g0") && script.state == "signed in bob")
        }
    }

    @Test func `G9: the success of the last user's refresh does not bring the last user back`() {
        var script = MachineScript.refreshing()
        #expect(script.signIn(2, as: "bob") == ["1: sessionEnded", "save bob g0", "revoke only ada g0"])
        var failed = script
        #expect(script.respond() == ["revoke only ada g1"])
        _ = script.wrote()
        #expect(script.ask(3) == ["3: bob g0"])
        #expect(failed.respond(.rejected) == [], "nor does its failure sign the next user out")
        #expect(failed.wrote() == ["signed in bob", "2: done"])
        #expect(failed.ask(3) == ["3: bob g0"])
    }

    @Test func `G22: without a refresh token there is a clear error at once, and no call`() {
        var script = MachineScript.signedIn(refreshToken: nil)
        #expect(script.machine.ready?.token(at: script.uptime + .seconds(3_599))?.generation == 0)
        #expect(script.machine.ready?.token(at: script.uptime + .seconds(3_600)) == nil, "not after its expiry")
        #expect(script.refused(1, generation: 0) == ["1: noRefreshToken"])
        #expect(script.refresh(4) == ["4: noRefreshToken"])
        _ = script.pass(.seconds(3_600))
        #expect(script.state == "signed in ada")
        #expect(script.ask(2) == ["2: noRefreshToken", "delete", "signedOut expired"], "it has expired for certain")
        #expect(script.ask(3) == ["3: notSignedIn"])
        var empty = MachineScript.signedIn(refreshToken: "")
        #expect(empty.refused(1, generation: 0) == ["1: noRefreshToken"], "an empty one counts as none")
    }

    @Test func `G22: without a refresh token a session ends only when the server says that the token is invalid`() {
        var script = MachineScript.signedIn(refreshToken: nil)
        #expect(script.refused(1, generation: 0) == ["1: noRefreshToken"])
        var refusal = TokenRefusal(of: script.token(0), saysTokenIsInvalid: true, status: 401)
        refusal.requestID = "r-1"
        #expect(script.refused(2, refusal) == ["2: noRefreshToken", "delete", "signedOut expired"])
        #expect(script.machine.published.ending?.status == 401 && script.machine.published.ending?.requestID == "r-1")
        let removed = script.wrote(.written(replaced: .stored("ada", 0)))
        #expect(removed.allSatisfy { !$0.hasPrefix("revoke") }, "G9: the server has called it invalid")
    }

    @Test func `G22: a wrong local clock alone ends no session without a refresh token`() {
        for (skew, texts) in [(0, ["2: ada g0"]), (0.5, ["2: noRefreshToken", "delete", "signedOut expired"])] {
            var script = MachineScript()
            let bundle = TokenBundle.stored(
                "ada", 0, refreshToken: "", expiresAt: script.date - 60, clockSkew: skew,
                receivedAt: script.date - 3_660)
            #expect(script.start(with: bundle) == ["signed in ada", "1: ada g0"])
            #expect(script.ask(2, serverDate: script.date) == texts, "the server's clock says so, too, where it counts")
        }
        var adopted = MachineScript.signedIn(isShared: true, refreshToken: nil)
        _ = adopted.changed(to: .active(.stored("ada", 1, refreshToken: "", expiresAt: adopted.date - 10)))
        #expect(adopted.ask(1) == ["1: ada g1"], "its expiry is that of a clock that can be set")
    }

    @Test func `G22: nor does it where the server has said an instant, and the device's clock says how far that is`() {
        func ask(_ change: (inout TokenRefreshResult) -> Void = { _ in }, isKnown: Bool = false) -> [String] {
            var script = MachineScript()
            if isKnown { _ = script.send(.serverDateNoted(script.date)) }
            var tokens = TokenRefreshResult(accessToken: "access-ada-0", expiresAt: script.date + 600)
            change(&tokens)
            _ = script.signIn(9, as: "ada", with: tokens, isStored: true)
            _ = script.send(.serverDateNoted(script.date - 3_000))
            return script.ask(2, after: .seconds(601))
        }
        #expect(ask() == ["2: ada g0"])
        let ended = ["2: noRefreshToken", "delete", "signedOut expired"]
        #expect(ask { $0.serverDate = $0.expiresAt.map { $0 - 600 } } == ended, "the response says when it was sent")
        #expect(ask { ($0.expiresAt, $0.expiresIn) = (nil, .seconds(600)) } == ended)
        #expect(ask(isKnown: true) == ended)
    }

    @Test func `G23: a request of the previous user is not sent again as the next user`() {
        var script = MachineScript.signedIn()
        _ = script.signIn(1, as: "bob", isStored: true)
        #expect(script.refused(2, generation: 0, of: "ada") == ["2: sessionEnded"])
        _ = script.signOut(3)
        #expect(script.refused(4, generation: 0, of: "bob") == ["4: sessionEnded"])
    }

    @Test func `A sign-in whose access token no header field can carry fails, and the current session stays`() {
        for bad in ["", "two words", "line\r\nbreak", "nul\0", "naïve"] {
            var script = MachineScript.signedIn()
            #expect(script.signIn(1, as: "bob", with: TokenRefreshResult(accessToken: bad)) == ["1: invalidTokens"])
            #expect(script.ask(2) == ["2: ada g0"])
        }
    }

    @Test func `An unusable access token is a failure, and a new refresh token that came with it is kept and stored`() {
        for bad in ["", "two words", "line\r\nbreak"] {
            var script = MachineScript.refreshing()
            #expect(script.respond(accessToken: bad, isStored: true) == ["save ada g1", "1: refreshUnavailable"])
            #expect(script.ask(2, after: .seconds(2)) == ["call g1"])
            #expect(script.lastRequest?.refreshToken == "refresh-ada-1")
        }
        var script = MachineScript.refreshing()
        let same = TokenRefreshResult(accessToken: "two words", refreshToken: "refresh-ada-0")
        #expect(script.respond(same) == ["1: refreshUnavailable"], "with the same one nothing changes")
        #expect(script.token(0).generation == 0)
        #expect(script.ask(2) == ["2: ada g0"])
        var stored = MachineScript()
        #expect(stored.start(with: .stored("ada", 0, accessToken: "")) == ["signed in ada", "call g0"])
    }
}
