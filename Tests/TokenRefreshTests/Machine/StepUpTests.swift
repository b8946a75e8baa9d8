import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G32: a step-up keeps the session, and nothing that started before it overwrites it.
@Suite struct StepUpTests {
    private let ada = TokenSubject(issuer: "https://issuer.example", id: "ada")

    private func tokens(_ name: String, refreshToken: String? = nil, of subject: TokenSubject?) -> TokenRefreshResult {
        TokenRefreshResult(
            accessToken: "access-\(name)", refreshToken: refreshToken, expiresIn: .seconds(3_600), subject: subject)
    }

    /// A script in which ada is signed in.
    private func signedIn(isShared: Bool = false, as subject: TokenSubject?) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        let tokens = tokens("ada-0", refreshToken: "refresh-ada-0", of: subject)
        _ = script.send(.signIn(tokens, SessionID(rawValue: "ada"), WaiterID(number: 900)))
        _ = script.wrote()
        return script
    }

    private func stepUp(
        _ script: inout MachineScript, _ waiter: Int = 50, refreshToken: String? = "refresh-high",
        as subject: TokenSubject? = TokenSubject(issuer: "https://issuer.example", id: "ada")
    ) -> [String] {
        let tokens = tokens("high", refreshToken: refreshToken, of: subject)
        return script.send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: waiter)))
    }

    @Test func `G32: with the same subject the session keeps its identity and gets the next generation`() throws {
        var script = signedIn(as: ada)
        let begun = try #require(script.machine.current?.bundle.signedInAt)
        _ = script.pass(.seconds(60))
        #expect(stepUp(&script) == ["save ada g1"])
        #expect(script.ask(1) == [], "no request uses the tokens before they are stored")
        #expect(script.wrote() == ["1: ada g1", "50: done"], "no state is published")
        let bundle = try #require(script.machine.current?.bundle)
        #expect(bundle.accessToken == "access-high" && bundle.refreshToken == "refresh-high")
        #expect(bundle.subject == ada && bundle.signedInAt == begun)
    }

    @Test(arguments: [nil, TokenSubject(issuer: "https://issuer.example", id: "eve")])
    func `G32: with another subject, or one that is not known, it is a sign-in`(subject: TokenSubject?) {
        var script = signedIn(as: ada)
        #expect(stepUp(&script, as: subject) == ["save new g0", "revoke only ada g0"])
        #expect(script.wrote() == ["signed in new", "50: done"])
        var unknown = signedIn(as: nil)
        #expect(stepUp(&unknown).first == "save new g0")
        var out = signedIn(as: ada)
        _ = out.signOut(1)
        _ = out.wrote()
        #expect(stepUp(&out) == ["save new g0"])
    }

    @Test(arguments: [nil, ""])
    func `G32: a step-up without a refresh token is refused, and the session goes on as it was`(refreshToken: String?) {
        var script = signedIn(as: ada)
        let before = script.machine
        #expect(stepUp(&script, refreshToken: refreshToken) == ["50: invalidTokens"])
        #expect(script.machine == before)
        let eve = TokenSubject(issuer: "https://issuer.example", id: "eve")
        #expect(stepUp(&script, refreshToken: refreshToken, as: eve) == ["50: invalidTokens"])
        #expect(script.machine == before)
        _ = script.refused(1, generation: 0)
        let call = script.call
        #expect(stepUp(&script, refreshToken: refreshToken) == ["50: invalidTokens"])
        #expect(script.respond(call: call) == ["save ada g1"])
        #expect(script.wrote() == ["1: ada g1"], "a refresh under way goes on")
    }

    @Test func `G32: tokens that no request can carry are refused, and the session stays`() {
        var script = signedIn(as: ada)
        let unusable = TokenRefreshResult(accessToken: "line\nfeed", subject: ada)
        #expect(
            script.send(.stepUp(unusable, SessionID(rawValue: "new"), WaiterID(number: 1))) == ["1: invalidTokens"])
        #expect(script.ask(2) == ["2: ada g0"])
    }

    @Test(arguments: [false, true])
    func `G32: a refresh under way does not overwrite it, its callers continue, and nothing is revoked`(
        isRejected: Bool
    ) {
        var script = signedIn(as: ada)
        #expect(script.refused(1, generation: 0) == ["call g0"])
        let key = script.lastRequest?.idempotencyKey
        #expect(script.refresh(2) == [])
        #expect(stepUp(&script) == ["cancel call", "2: signed in ada", "save ada g1"])
        #expect(script.respond(isRejected ? .rejected : nil) == [])
        #expect(script.timers.keys.allSatisfy { if case .abandonment = $0 { false } else { true } })
        #expect(script.wrote() == ["1: ada g1", "50: done"])
        #expect(script.machine.current?.bundle.accessToken == "access-high")
        #expect(script.refresh(3) == ["call g1"])
        #expect(script.lastRequest?.refreshToken == "refresh-high" && script.lastRequest?.idempotencyKey != key)
    }

    @Test func `G32: a token of a step-up that is refused is refreshed, also before the call under way has ended`() {
        var script = signedIn(as: ada)
        _ = script.refresh(1)
        _ = stepUp(&script)
        _ = script.wrote()
        let old = script.call
        #expect(script.refused(2, generation: 1) == ["call g1"])
        #expect(script.respond(call: old) == [])
        #expect(script.finish() == ["2: ada g2"])
        #expect(script.machine.current?.bundle.refreshToken == "refresh-ada-2")
    }

    @Test func `G32: a refresh whose tokens are being stored does not overwrite it`() {
        var script = signedIn(as: ada)
        _ = script.refresh(1)
        #expect(script.respond() == ["save ada g1"])
        let saved = script.lastWrite
        #expect(stepUp(&script) == ["1: signed in ada"], "it is written when the save has ended")
        #expect(script.send(.wrote(version: saved, .written(replaced: nil))) == ["save ada g2"])
        _ = script.wrote()
        #expect(script.machine.current?.bundle.accessToken == "access-high")
    }

    @Test func `G32: a rejection that is verified ends no session that was stepped up`() {
        var script = signedIn(isShared: true, as: ada)
        _ = script.refresh(1)
        _ = script.leased(reading: .stored("ada", 0))
        #expect(script.respond(.rejected) == ["reread"])
        #expect(stepUp(&script) == ["1: signed in ada", "save ada g1"])
        #expect(script.reread(.stored("ada", 0)) == [])
        #expect(script.wrote() == ["50: done", "release"])
    }

    @Test func `G32: a session whose end is being stored is not stepped up: it is a sign-in`() {
        var script = signedIn(isShared: true, as: ada)
        _ = script.refresh(1)
        _ = script.leased(reading: .stored("ada", 0))
        _ = script.respond(.rejected)
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        _ = stepUp(&script)
        #expect(script.machine.current?.bundle.session.rawValue == "new")
    }

    @Test func `G32: what another process has refreshed meanwhile does not replace it`() throws {
        var script = signedIn(isShared: true, as: ada)
        #expect(stepUp(&script) == ["save ada g1"])
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 1)))) == ["save ada g2", "50: done"])
        #expect(script.ask(1) == [])
        #expect(script.wrote() == ["1: ada g2"])
        #expect(script.machine.current?.bundle.accessToken == "access-high")
        #expect(script.changed(to: .active(.stored("ada", 3))) == [], "a later refresh is one of its tokens")
        #expect(script.ask(2) == ["2: ada g3"])
    }

    @Test func `G25, G32: a caller waits for the deadline in all, for a refresh and for the write of a step-up`() {
        var policy = TokenRefreshPolicy()
        policy.deadline = .seconds(5)
        var script = MachineScript(policy: policy)
        let login = tokens("ada-0", refreshToken: "refresh-ada-0", of: ada)
        _ = script.send(.signIn(login, SessionID(rawValue: "ada"), WaiterID(number: 900)))
        _ = script.wrote()
        _ = script.refused(1, generation: 0)
        _ = script.pass(.seconds(4))
        #expect(stepUp(&script) == ["cancel call", "save ada g1"])
        #expect(script.ask(2) == [])
        #expect(script.pass(.milliseconds(999)) == [])
        #expect(script.pass(.milliseconds(1)) == ["1: refreshUnavailable"])
        #expect(script.wrote() == ["2: ada g1", "50: done"])
    }

    @Test func `G32: a sign-out in another process holds, and the new tokens are revoked`() {
        var script = signedIn(isShared: true, as: ada)
        #expect(stepUp(&script) == ["save ada g1"])
        #expect(script.wrote(.superseded(by: .ended("ada"))).contains("revoke ada g1"))
        #expect(script.machine.published == .signedOut(.byUser))
    }

    @Test func `G32: where the store fails it is used from memory, and stored later in any case`() {
        var script = signedIn(isShared: true, as: ada)
        _ = stepUp(&script)
        #expect(script.storeFails() == ["50: done"])
        #expect(script.changed(to: .active(.stored("ada", 1))) == [], "what was refreshed elsewhere gives way to it")
        #expect(script.ask(1) == ["1: ada g1"])
        #expect(script.machine.current?.bundle.accessToken == "access-high")
        #expect(script.pass(.seconds(2)) == ["save ada g1"])
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 1)))) == ["save ada g2"])
        _ = script.wrote()
        #expect(script.ask(2) == ["2: ada g2"])
    }

    @Test func `G32: its token that is refused at once is refreshed, as that of a sign-in`() {
        var script = signedIn(as: ada)
        _ = script.refresh(1)
        _ = script.finish()
        #expect(script.refused(2, generation: 1) == ["2: unauthorized"])
        _ = stepUp(&script)
        _ = script.wrote()
        #expect(script.refused(3, generation: 2) == ["call g2"])
    }
}
