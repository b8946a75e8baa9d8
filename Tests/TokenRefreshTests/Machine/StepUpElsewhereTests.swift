import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G12, G32: what a step-up in another process means for a refresh or a write in this one.
@Suite struct StepUpElsewhereTests {
    private let ada = TokenSubject(issuer: "https://issuer.example", id: "ada")

    /// A script in which ada is signed in, and may step up.
    private func signedIn(isShared: Bool) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        let login = TokenRefreshResult(accessToken: "access-ada-0", refreshToken: "refresh-ada-0", subject: ada)
        _ = script.send(.signIn(login, SessionID(rawValue: "ada"), WaiterID(number: 900)))
        _ = script.wrote()
        return script
    }

    private func stepUp(_ script: inout MachineScript, _ waiter: Int) -> [String] {
        let tokens = TokenRefreshResult(accessToken: "access-high", refreshToken: "refresh-high", subject: ada)
        return script.send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: waiter)))
    }

    @Test func `G32: tokens that were refreshed from older ones do not replace those of a step-up`() throws {
        var script = MachineScript.calling()
        #expect(script.respond() == ["save ada g1"])
        let stored = TokenBundle(
            accessToken: "access-high", refreshToken: "refresh-high", session: SessionID(rawValue: "ada"), generation: 1
        )
        #expect(script.wrote(.superseded(by: .active(stored))) == ["1: ada g1", "release"])
        #expect(script.machine.current?.bundle.hasSameTokens(as: stored) == true)
    }

    @Test func `G12: what may have been refreshed from a step-up whose write has failed is used in place of it`() {
        var script = signedIn(isShared: true)
        _ = stepUp(&script, 1)
        #expect(script.storeFails() == ["1: done"], "the store may have it all the same")
        #expect(script.pass(.seconds(2)) == ["save ada g1"])
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 2)))) == [])
        #expect(script.ask(2) == ["2: ada g2"])
        #expect(script.refresh(3) == ["lease"])
        #expect(script.leased(reading: .stored("ada", 2)) == ["call g2"])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-2")
    }

    @Test func `G32: a step-up is a sign-in while the store may still take the end of the session`() {
        var script = signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased(reading: .stored("ada", 0))
        _ = script.respond(.rejected)
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        #expect(script.pass(.seconds(10)) == ["1: storeUnavailable", "release"])
        let end = script.lastWrite
        _ = stepUp(&script, 2)
        #expect(script.send(.wrote(version: end, .written(replaced: nil))).contains("save new g0"))
        #expect(script.wrote().contains("2: done"))
        #expect(script.machine.current?.bundle.session.rawValue == "new")
    }
}
