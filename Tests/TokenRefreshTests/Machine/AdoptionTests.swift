import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G2, G4, G10, G14, G25: what holds for tokens that another process has stored.
@Suite struct AdoptionTests {
    @Test func `G2: callers that wait for a pause get the tokens that another process has stored meanwhile`() {
        var script = MachineScript.calling(policy: .withoutJitter)
        _ = script.respond(.unavailable)
        #expect(script.refused(2, generation: 0) == [])
        #expect(script.refresh(3) == [])
        #expect(Set(script.changed(to: .active(.stored("ada", 1)))) == ["2: ada g1", "3: signed in ada"], "no refresh")
    }

    @Test func `G13: a session that the store turns out to hold already is left when another one is found there`() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "ada", isStored: false)
        #expect(script.pass(.seconds(2)) == ["save ada g0"])
        _ = script.wrote(.superseded(by: .active(.stored("ada", 0, refreshToken: ""))))
        #expect(script.changed(to: .active(.stored("bob", 0))) == ["revoke only ada g0", "signed in bob"])
    }

    /// A later generation with ada's first access token, as an earlier version stores it.
    private let unchanged = TokenBundle.stored("ada", 1, accessToken: "access-ada-0")

    @Test func `G13: a newer bundle with the same access token does not replace the call, read or found by a write`() {
        var script = MachineScript.signedIn(isShared: true)
        let before = script.machine.current?.expiry
        #expect(script.refused(1, generation: 0, after: .seconds(60), reading: unchanged) == ["call g1"])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-1")
        // What this process knows of the access token stays.
        #expect(script.machine.current?.expiry == before)
        var written = MachineScript.calling()
        _ = written.respond()
        #expect(written.wrote(.superseded(by: .active(unchanged))) == ["reread"])
        #expect(written.reread(unchanged) == ["call g1"])
        for var script in [script, written] {
            #expect(script.finish() == ["1: ada g2", "release"])
        }
    }

    /// Ada's tokens as another process has received them `age` seconds ago. Its clock is `ahead` of this one's.
    private func adopted(_ script: MachineScript, age: TimeInterval = 0, ahead: TimeInterval) -> TokenBundle {
        let receivedAt = script.date - age + ahead
        return TokenBundle.stored("ada", 1, expiresAt: receivedAt + 3_600, receivedAt: receivedAt)
    }

    @Test(arguments: [-30 * 86_400, -7_200, -3, 0, 3, 7_200, 30 * 86_400] as [TimeInterval])
    func `G19: adopted tokens are as fresh as the store shows, independent of the clock of their process`(
        ahead: TimeInterval
    ) throws {
        for isReported in [true, false] {
            var script = MachineScript.signedIn(isShared: true)
            _ = script.pass(.seconds(1_800))
            _ = script.changed(to: .active(try #require(script.machine.current?.bundle)))
            _ = script.pass(.seconds(isReported ? 1_735 : 60))
            let adopted = adopted(script, ahead: ahead)
            if isReported {
                _ = script.changed(to: .active(adopted))
            } else {
                #expect(script.refresh(1, reading: adopted).first == "1: signed in ada", "no call is due")
            }
            let left = try #require(script.machine.current?.expiry.end) - script.uptime
            #expect(left > .seconds(isReported ? 3_590 : 3_530) && left <= .seconds(3_600))
            #expect(script.ask(2) == ["2: ada g1"])
        }
    }

    @Test func `G19: tokens of other processes do not age by a clock that is set, here or there, and do in a sleep`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.pass(.seconds(60))
        var (slept, behind) = (script, script)
        script.date += 86_400
        _ = script.changed(to: .active(adopted(script, ahead: -86_400)))
        #expect(script.ask(1) == ["1: ada g1"], "set forward here")

        _ = slept.sleep(.seconds(7_200))
        _ = slept.changed(to: .active(adopted(slept, age: 7_000, ahead: 0)))
        #expect(slept.ask(1) == ["lease"])

        _ = behind.changed(to: .active(adopted(behind, ahead: -7_200)))
        _ = behind.send(.serverDateNoted(behind.date + 1))
        #expect(behind.ask(1) == ["1: ada g1"], "a server's date does not bring the other clock back")
    }

    @Test func `G4: an ambiguous refusal of earlier tokens is not repeated by one of the adopted tokens`() {
        let bare = TokenRefreshError(.ambiguous, status: 401)
        var script = MachineScript.calling(for: .refresh)
        #expect(script.respond(bare) == ["1: refreshUnavailable", "release"])
        _ = script.changed(to: .active(.stored("ada", 1)))
        #expect(script.refresh(2, after: .seconds(60), reading: .stored("ada", 1)) == ["call g1"])
        #expect(script.respond(bare) == ["2: refreshUnavailable", "release"])
    }

    @Test func `G14: adopted tokens are in the store, so they are not spent while it cannot be read`() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "bob", isStored: false)
        #expect(script.pass(.seconds(1)) == ["save bob g0"])
        _ = script.wrote(.superseded(by: .active(.stored("bob", 1))))
        #expect(script.refresh(2) == ["lease"])
        #expect(script.leased(reading: .failure(.locked)) == ["2: storeUnavailable", "release"])
    }
}
