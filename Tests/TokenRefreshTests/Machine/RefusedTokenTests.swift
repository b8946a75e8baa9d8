import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G10, G22: what follows from the refusal of a token, and what does not.
@Suite struct RefusedTokenTests {
    @Test func `G10: a replacement that is refused too causes no refresh`() {
        var script = MachineScript.refreshedOnce()
        _ = script.pass(.seconds(60))
        let late = TokenRefusal(of: script.token(0))
        let now = Instant(uptime: script.uptime, date: script.date)
        let actions = script.machine.handle(.requested(.replacement(late), WaiterID(number: 1)), at: now)
        guard case .respond(_, .token(let token))? = actions.first else {
            Issue.record("no token is given: \(actions)")
            return
        }
        #expect(script.refused(2, TokenRefusal(of: token)) == ["2: unauthorized"])
    }

    @Test func `G10: an expired token is refreshed when it is refused, however new it is`() {
        var script = MachineScript.signedIn()
        _ = script.refused(1, generation: 0)
        _ = script.respond(lifetime: .seconds(5))
        _ = script.wrote()
        _ = script.pass(.seconds(6))
        #expect(script.refused(2, generation: 1) == ["call g1"])
    }

    @Test func `G22: an expiry on the device's clock ends no session, also when the server's clock is known`() {
        var script = MachineScript()
        _ = script.ask(1)
        let bundle = TokenBundle(
            accessToken: "access-ada-0", refreshToken: nil, expiresAt: script.date - 60,
            session: SessionID(rawValue: "ada"), receivedAt: script.date - 3_660
        )
        #expect(script.loaded(.success(.active(bundle))) == ["signed in ada", "1: ada g0"])
        _ = script.send(.serverDateNoted(script.date))
        #expect(script.ask(2) == ["2: ada g0"])
    }
}
