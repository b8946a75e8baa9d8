import AuthInterface
import Testing

@testable import TokenRefresh

/// G32: a step-up keeps the session, and nothing that started before it overwrites it.
@Suite struct StepUpTests {
    private func accessToken(_ script: MachineScript) -> String? { script.machine.current?.bundle.accessToken }

    @Test func `G32: with the same subject the session keeps its identity and gets the next generation`() throws {
        var script = MachineScript.known()
        let begun = try #require(script.machine.current?.bundle.signedInAt)
        _ = script.pass(.seconds(60))
        #expect(script.stepUp(50) == ["save ada g1"])
        #expect(script.ask(1) == [], "no request uses the tokens before they are stored")
        #expect(script.wrote() == ["1: ada g1", "50: done"], "no state is published")
        let bundle = try #require(script.machine.current?.bundle)
        #expect(bundle.accessToken == "access-high" && bundle.refreshToken == "refresh-high")
        #expect(bundle.subject == .ada && bundle.signedInAt == begun)
    }

    @Test(arguments: [nil, TokenSubject.eve])
    func `G32: with another subject, or one that is not known, it is a sign-in`(subject: TokenSubject?) {
        var script = MachineScript.known()
        var out = script
        #expect(script.stepUp(50, with: .issued("high", of: subject)) == ["save new g0", "revoke only ada g0"])
        #expect(script.wrote() == ["signed in new", "50: done"])
        var unknown = MachineScript.known(as: nil)
        #expect(unknown.stepUp(50).first == "save new g0")
        _ = out.signOut(1, isStored: true)
        #expect(out.stepUp(50) == ["save new g0"])
    }

    @Test(arguments: [nil, ""])
    func `G32: a step-up without a refresh token is refused, and the session goes on as it was`(refreshToken: String?) {
        var script = MachineScript.known()
        let before = script.machine
        for subject in [TokenSubject.ada, .eve] {
            let tokens = TokenRefreshResult(accessToken: "access", refreshToken: refreshToken, subject: subject)
            #expect(script.stepUp(50, with: tokens) == ["50: invalidTokens"])
            #expect(script.machine == before)
        }
        _ = script.refused(1, generation: 0)
        let tokens = TokenRefreshResult(accessToken: "access", refreshToken: refreshToken, subject: .ada)
        #expect(script.stepUp(50, with: tokens) == ["50: invalidTokens"])
        #expect(script.respond(isStored: true) == ["save ada g1", "1: ada g1"], "a refresh under way goes on")
        let unusable = TokenRefreshResult(accessToken: "line\nfeed", subject: .ada)
        #expect(script.stepUp(50, with: unusable) == ["50: invalidTokens"], "tokens that no request can carry")
        #expect(script.ask(2) == ["2: ada g1"])
    }

    @Test(arguments: [false, true])
    func `G32: a refresh under way does not overwrite it, and its callers continue`(isRejected: Bool) {
        var script = MachineScript.known()
        #expect(script.refused(1, generation: 0) == ["call g0"])
        let key = script.key
        #expect(script.refresh(2) == [])
        #expect(script.stepUp(50) == ["cancel call", "2: signed in ada", "save ada g1"])
        #expect(script.respond(isRejected ? .rejected : nil) == [])
        #expect(script.timers.keys.allSatisfy { if case .abandonment = $0 { false } else { true } })
        #expect(script.wrote() == ["1: ada g1", "50: done"])
        #expect(accessToken(script) == "access-high")
        #expect(script.refresh(3) == ["call g1"])
        #expect(script.lastRequest?.refreshToken == "refresh-high" && script.key != key)
    }

    @Test func `G32: a token of a step-up that is refused is refreshed, also before the call under way has ended`() {
        var script = MachineScript.known()
        _ = script.refresh(1)
        _ = script.stepUp(50, isStored: true)
        let old = script.call
        #expect(script.refused(2, generation: 1) == ["call g1"])
        #expect(script.respond(call: old) == [])
        #expect(script.finish() == ["2: ada g2"])
        #expect(script.machine.current?.bundle.refreshToken == "refresh-ada-2")
        #expect(script.refused(3, generation: 2) == ["3: unauthorized"])
        _ = script.stepUp(50, isStored: true)
        #expect(script.refused(4, generation: 3) == ["call g3"], "at once, as that of a sign-in")
    }

    @Test func `G25, G32: a refresh whose tokens are being stored, here or elsewhere, does not overwrite it`() {
        var script = MachineScript.known(isShared: true)
        _ = script.refresh(1, reading: .stored("ada", 0))
        #expect(script.respond() == ["save ada g1"])
        #expect(script.stepUp(50) == ["1: signed in ada"], "it is written when the save has ended")
        var superseded = script
        #expect(script.wrote() == ["save ada g2"])
        _ = script.wrote()
        #expect(accessToken(script) == "access-high")
        let other = TokenBundle.stored("ada", 2, accessToken: "access-other", refreshToken: "refresh-ada-0")
        _ = superseded.wrote(.superseded(by: .active(other)))
        _ = superseded.wrote()
        #expect(superseded.ask(4) == ["4: ada g3"])
        #expect(superseded.machine.isIdle)
    }

    @Test(arguments: [false, true])
    func `G32: while the store may take the end of the session, and not before, it is a sign-in`(isLate: Bool) {
        var script = MachineScript.known(isShared: true)
        _ = script.refresh(1, reading: .stored("ada", 0))
        #expect(script.respond(.rejected) == ["reread"])
        var verifying = script
        #expect(verifying.stepUp(50) == ["1: signed in ada", "save ada g1"])
        #expect(verifying.reread(.stored("ada", 0)) == [], "a rejection that is verified ends no session that goes on")
        #expect(verifying.wrote() == ["50: done", "release"])

        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        let end = script.lastWrite
        if isLate { #expect(script.pass(.seconds(10)) == ["1: storeUnavailable", "release"]) }
        _ = script.stepUp(2)
        #expect(script.machine.current?.bundle.session.rawValue == "new")
        guard isLate else { return }
        #expect(script.wrote(version: end).contains("save new g0"))
        #expect(script.wrote().contains("2: done"))
        #expect(script.machine.current?.bundle.session.rawValue == "new")
    }

    @Test func `G25, G32: a caller waits for the deadline in all, for a refresh and for the write of a step-up`() {
        var script = MachineScript.known(policy: .with { $0.deadline = .seconds(5) })
        _ = script.refused(1, generation: 0)
        _ = script.pass(.seconds(4))
        #expect(script.stepUp(50) == ["cancel call", "save ada g1"])
        #expect(script.ask(2) == [])
        #expect(script.pass(.milliseconds(999), then: .milliseconds(1)) == ["1: refreshUnavailable"])
        #expect(script.wrote() == ["2: ada g1", "50: done"])
    }

    @Test func `G32: what another process has refreshed meanwhile does not replace it`() {
        var script = MachineScript.known(isShared: true)
        #expect(script.stepUp(50) == ["save ada g1"])
        var ended = script
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 1)))) == ["save ada g2", "50: done"])
        #expect(script.ask(1) == [])
        #expect(script.wrote() == ["1: ada g2"])
        #expect(accessToken(script) == "access-high")
        #expect(script.changed(to: .active(.stored("ada", 3))) == [], "a later refresh is one of its tokens")
        #expect(script.ask(2) == ["2: ada g3"])
        #expect(ended.wrote(.superseded(by: .ended("ada"))).contains("revoke ada g1"), "a sign-out holds")
        #expect(ended.state == "signedOut byUser")
    }

    @Test func `G32: where the store fails it is used from memory, and stored later in any case`() {
        var script = MachineScript.known(isShared: true)
        _ = script.stepUp(50)
        #expect(script.storeFails() == ["50: done"])
        #expect(script.changed(to: .active(.stored("ada", 1))) == [], "what was refreshed elsewhere gives way to it")
        #expect(script.ask(1) == ["1: ada g1"])
        #expect(accessToken(script) == "access-high")
        #expect(script.pass(.seconds(2)) == ["save ada g1"])
        var spent = script
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 1)))) == ["save ada g2"])
        _ = script.wrote()
        #expect(script.ask(2) == ["2: ada g2"])

        // G12: the store may have it all the same, and what was refreshed from it is used in place of it.
        #expect(spent.wrote(.superseded(by: .active(.stored("ada", 2)))) == ["check"])
        #expect(spent.ask(2) == ["2: ada g2"])
        #expect(spent.refresh(3, reading: .stored("ada", 2)) == ["call g2"])
        #expect(spent.lastRequest?.refreshToken == "refresh-ada-2")
    }
}
