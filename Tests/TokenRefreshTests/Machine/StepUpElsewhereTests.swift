import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G10, G12, G32: what a step-up in another process means for a refresh, a write or a refusal in this one.
@Suite struct StepUpElsewhereTests {
    /// What another process has stored when the user has stepped up there. `refreshToken`: that of the step-up;
    /// without one the old one stays.
    private func steppedUp(refreshToken: String = "refresh-ada-0") -> TokenBundle {
        TokenBundle(
            accessToken: "access-high", refreshToken: refreshToken, session: SessionID(rawValue: "ada"), generation: 1)
    }

    private let ada = TokenSubject(issuer: "https://issuer.example", id: "ada")

    /// A script in which ada is signed in, and may step up.
    private func signedIn(isShared: Bool) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        let login = TokenRefreshResult(accessToken: "access-ada-0", refreshToken: "refresh-ada-0", subject: ada)
        _ = script.send(.signIn(login, SessionID(rawValue: "ada"), WaiterID(number: 900)))
        _ = script.wrote()
        return script
    }

    private func stepUp(_ script: inout MachineScript, _ waiter: Int, refreshToken: String? = nil) -> [String] {
        let tokens = TokenRefreshResult(accessToken: "access-high", refreshToken: refreshToken, subject: ada)
        return script.send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: waiter)))
    }

    @Test func `G12: a refresh under way brings the refresh token that follows, and the access token stays`() throws {
        var script = MachineScript.calling()
        #expect(script.respond() == ["save ada g1"])
        #expect(script.wrote(.superseded(by: .active(steppedUp()))) == ["save ada g2", "1: ada g2"])
        #expect(script.wrote() == ["release"])
        let bundle = try #require(script.machine.current?.bundle)
        #expect(bundle.accessToken == "access-high" && bundle.refreshToken == "refresh-ada-1")
    }

    @Test func `G12: so does a call that has missed its deadline, when a check finds the step-up first`() throws {
        var script = MachineScript.calling()
        #expect(script.pass(.seconds(30)) == ["1: refreshUnavailable"])
        let call = script.call
        #expect(script.changed(to: .active(steppedUp())) == [])
        #expect(script.ask(2) == ["2: ada g1"])
        #expect(script.refresh(3) == [], "it waits for that call")
        #expect(script.respond(call: call) == ["save ada g2"])
        #expect(script.wrote() == ["3: signed in ada", "release"])
        let bundle = try #require(script.machine.current?.bundle)
        #expect(bundle.accessToken == "access-high" && bundle.refreshToken == "refresh-ada-1")
    }

    @Test func `G32: tokens that were refreshed from older ones do not replace those of a step-up`() throws {
        var script = MachineScript.calling()
        #expect(script.respond() == ["save ada g1"])
        let stored = steppedUp(refreshToken: "refresh-high")
        #expect(script.wrote(.superseded(by: .active(stored))) == ["1: ada g1", "release"])
        #expect(script.machine.current?.bundle == stored)
    }

    @Test func `G12: a step-up without a refresh token keeps the intent of another process`() throws {
        var script = signedIn(isShared: true)
        let base = try #require(script.machine.current?.bundle)
        #expect(stepUp(&script, 1) == ["save ada g1"])
        let owner = ProcessIdentity(host: "host", process: "p2")
        let intent = RefreshIntent(idempotencyKey: "key-2", owner: owner, date: script.date)
        let found = StoredSession.active(base.with(refreshIntent: intent))
        let content = try #require(script.lastContent)
        #expect(content.replacement(for: .success(found))?.bundle?.refreshIntent == intent)
        #expect(content.replacement(for: .success(found))?.bundle?.accessToken == "access-high")
        let own = base.moved(to: 1).with(
            refreshIntent: RefreshIntent(idempotencyKey: "key-1", owner: owner, date: .now))
        let marked = StoreContent.bundle(own, over: .olderWithIntent)
        #expect(marked.replacement(for: .success(found))?.bundle?.refreshIntent?.idempotencyKey == "key-1")
        let other = StoredSession.active(.stored("ada", 0, refreshToken: "other").with(refreshIntent: intent))
        #expect(content.replacement(for: .success(other))?.bundle?.refreshIntent == nil)
    }

    @Test func `G12: what may have been refreshed from a step-up whose write has failed is used in place of it`() {
        var script = signedIn(isShared: true)
        _ = stepUp(&script, 1, refreshToken: "refresh-high")
        #expect(script.storeFails() == ["1: done"], "the store may have it all the same")
        #expect(script.pass(.seconds(2)) == ["save ada g1"])
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 2)))) == [])
        #expect(script.ask(2) == ["2: ada g2"])
        #expect(script.refresh(3) == ["lease"])
        #expect(script.leased(reading: .stored("ada", 2)) == ["call g2"])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-2")
    }

    @Test func `G32: a second step-up without a refresh token keeps the right of the first to replace older tokens`() {
        var script = signedIn(isShared: true)
        _ = stepUp(&script, 1, refreshToken: "refresh-high")
        _ = stepUp(&script, 2)
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 1)))).contains("save ada g2"))
        #expect(script.wrote(.superseded(by: .active(.stored("ada", 2)))).contains("save ada g3"))
        #expect(script.machine.current?.bundle.refreshToken == "refresh-high")

        var failed = signedIn(isShared: true)
        _ = stepUp(&failed, 1, refreshToken: "refresh-high")
        #expect(failed.storeFails() == ["1: done"], "the store may have it all the same")
        _ = stepUp(&failed, 2)
        #expect(failed.wrote(.superseded(by: .active(.stored("ada", 2)))) == ["2: done"])
        #expect(failed.machine.current?.bundle.refreshToken == "refresh-ada-2")
    }

    @Test func `G12, G32: a call that was given up before the step-up may bring that refresh token, too`() {
        var script = signedIn(isShared: false)
        #expect(script.refresh(1) == ["call g0"])
        let first = script.call
        _ = script.pass(.seconds(200))
        _ = script.wrote()
        _ = stepUp(&script, 2)
        _ = script.wrote()
        #expect(script.respond(call: first) == ["save ada g2"])
        #expect(script.refresh(3) == [])
        #expect(script.wrote() == ["3: signed in ada"])
        #expect(script.machine.current?.bundle.accessToken == "access-high")
        #expect(script.machine.current?.bundle.refreshToken == "refresh-ada-1")
    }

    @Test func `G32: a call from before two step-ups, of which the first brought its own token, brings nothing`() {
        var script = MachineScript.calling()
        _ = script.pass(.seconds(30))
        let call = script.call
        #expect(script.changed(to: .active(steppedUp(refreshToken: "refresh-high"))) == [])
        let second = TokenBundle(
            accessToken: "access-higher", refreshToken: "refresh-high", session: SessionID(rawValue: "ada"),
            generation: 2)
        #expect(script.changed(to: .active(second)) == [])
        #expect(script.refresh(2) == ["2: refreshUnavailable"], "it waits for no call that brings nothing")
        #expect(script.respond(call: call) == ["release"])
        #expect(script.machine.current?.bundle == second)
    }

    @Test func `G12, G32: a call that is abandoned may still bring that refresh token, and the next call ends`() {
        var script = signedIn(isShared: false)
        #expect(script.refresh(1) == ["call g0"])
        let first = script.call
        _ = stepUp(&script, 2)
        _ = script.wrote()
        _ = script.pass(.seconds(200))
        #expect(script.refresh(3) == ["call g1"])
        #expect(script.respond(call: first) == ["cancel call", "save ada g2"])
        #expect(script.wrote() == ["3: signed in ada"])
        #expect(script.machine.current?.bundle.refreshToken == "refresh-ada-1")
    }

    @Test func `G32: a step-up is a sign-in while the store may still take the end of the session`() {
        var script = signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased(reading: .stored("ada", 0))
        _ = script.respond(.rejected)
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        #expect(script.pass(.seconds(10)) == ["1: storeUnavailable", "release"])
        let end = script.lastWrite
        _ = stepUp(&script, 2, refreshToken: "refresh-high")
        #expect(script.send(.wrote(version: end, .written(replaced: nil))).contains("save new g0"))
        #expect(script.wrote().contains("2: done"))
        #expect(script.machine.current?.bundle.session.rawValue == "new")
    }

    @Test func `G12, G32: a call continues the one whose intent stands beside the tokens before an unsaved step-up`() {
        var script = signedIn(isShared: true)
        _ = stepUp(&script, 1)
        #expect(script.storeFails() == ["1: done"])
        let owner = ProcessIdentity(host: "host", process: "p2")
        let intent = RefreshIntent(idempotencyKey: "key-of-p2", owner: owner, date: script.date)
        _ = stepUp(&script, 2)
        #expect(script.storeFails() == ["2: done"])
        #expect(script.refresh(3) == ["lease"])
        let stored = TokenBundle.stored("ada", 0).with(refreshIntent: intent)
        #expect(script.leased(reading: stored) == ["call g2"])
        #expect(script.lastRequest?.idempotencyKey == "key-of-p2")
        #expect(script.lastRequest?.refreshToken == "refresh-ada-0")

        // Once a response has been applied, a store that goes back to that intent does not bring the key back.
        _ = script.respond(TokenRefreshResult(accessToken: "access-next", refreshToken: "refresh-ada-0"))
        #expect(script.storeFails() == ["3: signed in ada"])
        #expect(script.refresh(4) == ["reread"])
        #expect(script.reread(stored) == ["call g3"])
        #expect(script.lastRequest?.idempotencyKey != "key-of-p2")
    }
}
