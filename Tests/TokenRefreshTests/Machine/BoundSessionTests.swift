import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G34: sessions whose tokens are bound to a key.
@Suite struct BoundSessionTests {
    /// A user has signed in with tokens that are bound to a key.
    private func signedIn(isShared: Bool = false) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        signIn(&script, "ada")
        return script
    }

    @discardableResult
    private func signIn(_ script: inout MachineScript, _ user: String) -> [String] {
        var tokens = TokenRefreshResult(accessToken: "access-\(user)-0", refreshToken: "refresh-\(user)-0")
        tokens.binding = TokenBinding(thumbprint: "key-\(user)")
        let actions = script.send(.signIn(tokens, SessionID(rawValue: user), WaiterID(number: 900)))
        return actions + script.wrote()
    }

    @Test func `a call is made with the binding, and the tokens keep it with the nonces of the response`() throws {
        var script = signedIn()
        #expect(script.refresh(1) == ["call g0"])
        #expect(script.lastRequest?.binding == TokenBinding(thumbprint: "key-ada"))
        var tokens = TokenRefreshResult(accessToken: "access-ada-1", refreshToken: "refresh-ada-1")
        let nonce = ProofNonce(value: "nonce-1", date: script.date)
        tokens.binding = TokenBinding(thumbprint: "key-ada", nonces: ["https://server.example": nonce])
        _ = script.respond(tokens)
        #expect(script.lastContent?.bundle?.binding == tokens.binding)
        _ = script.wrote()
        _ = script.refresh(2)
        #expect(script.lastRequest?.binding?.nonces.values.map(\.value) == ["nonce-1"])
        // A response of a server that says nothing of it.
        _ = script.respond(TokenRefreshResult(accessToken: "access-ada-2"))
        #expect(script.lastContent?.bundle?.binding == tokens.binding)
    }

    @Test func `a key is deleted when its session ends, and when another sign-in replaces it`() {
        var script = signedIn()
        #expect(!script.signOut(1).contains("release the key key-ada"), "G5: the end is stored first")
        #expect(script.wrote().contains("release the key key-ada"))
        var replaced = signedIn()
        #expect(signIn(&replaced, "bob").contains("release the key key-ada"))
        #expect(replaced.token(0, of: "bob").binding?.thumbprint == "key-bob")
    }

    @Test func `a key is not deleted when the end of its session cannot be stored`() {
        var script = signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased(reading: .stored("ada", 0))
        _ = script.respond(.rejected)
        _ = script.reread(.stored("ada", 0))
        #expect(!script.storeFails().contains("release the key key-ada"))
    }

    /// The tokens of a user in the store, bound to the user's key.
    private func stored(_ user: String, _ generation: Int) -> TokenBundle {
        TokenBundle(
            accessToken: "access-\(user)-\(generation)", refreshToken: "refresh-\(user)-\(generation)",
            session: SessionID(rawValue: user), generation: generation,
            binding: TokenBinding(thumbprint: "key-\(user)"))
    }

    @Test func `the key of a session that another process has replaced is deleted by that process`() {
        var followed = signedIn(isShared: true)
        #expect(!followed.changed(to: .active(stored("bob", 0))).contains("release the key key-ada"))
        #expect(followed.machine.published == .signedIn(SessionID(rawValue: "bob")))
    }

    @Test func `the key of a sign-in that another one has forestalled is deleted here`() {
        var script = MachineScript(isShared: true)
        var tokens = TokenRefreshResult(accessToken: "access-ada-0", refreshToken: "refresh-ada-0")
        tokens.binding = TokenBinding(thumbprint: "key-ada")
        _ = script.send(.signIn(tokens, SessionID(rawValue: "ada"), WaiterID(number: 1)))
        let actions = script.wrote(.superseded(by: .active(stored("bob", 0))))
        #expect(actions.contains("signed in bob") && actions.contains("release the key key-ada"))
    }

    @Test func `the key of a session that was replaced unread is deleted, and the one in use is not`() {
        for (user, isReleased) in [("bob", true), ("ada", false)] {
            var script = MachineScript(isShared: true)
            var tokens = TokenRefreshResult(accessToken: "access-new", refreshToken: "refresh-new")
            tokens.binding = TokenBinding(thumbprint: "key-ada")
            _ = script.send(.signIn(tokens, SessionID(rawValue: "new"), WaiterID(number: 1)))
            let actions = script.wrote(.written(replaced: stored(user, 3)))
            #expect(actions.contains("release the key key-\(user)") == isReleased)
        }
    }

    /// Tokens of a step-up of ada.
    private func stepUp(_ key: String?, refreshToken: String) -> TokenRefreshResult {
        var tokens = TokenRefreshResult(accessToken: "access-high", refreshToken: refreshToken)
        tokens.subject = TokenSubject(issuer: "https://issuer.example", id: "ada")
        tokens.binding = key.map { TokenBinding(thumbprint: $0) }
        return tokens
    }

    /// A user with a known subject has signed in.
    private func known(isShared: Bool = false) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        var tokens = stepUp("key-ada", refreshToken: "refresh-ada-0")
        tokens.accessToken = "access-ada-0"
        _ = script.send(.signIn(tokens, SessionID(rawValue: "ada"), WaiterID(number: 900)))
        _ = script.wrote()
        return script
    }

    @Test func `G32, G34: the key that a step-up replaces is deleted once the new tokens are stored, or at the end`() {
        var script = known()
        let tokens = stepUp("key-new", refreshToken: "refresh-high")
        _ = script.send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: 1)))
        let stored = script.wrote()
        #expect(stored.contains("release the key key-ada") && !stored.contains("release the key key-new"))
        #expect(script.machine.current?.bundle.binding?.thumbprint == "key-new")
        #expect(!script.signOut(2).contains("release the key key-ada"), "once")

        var failing = known()
        _ = failing.send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: 1)))
        #expect(!failing.storeFails().contains("release the key key-ada"), "what is stored is bound to it")
        _ = failing.signOut(2)
        let ended = failing.wrote()
        #expect(ended.contains("release the key key-ada") && ended.contains("release the key key-new"))
    }

    @Test func `G32, G34: after a step-up that was lost, its own key is deleted, and not the one in use`() {
        var script = known(isShared: true)
        let tokens = stepUp("key-new", refreshToken: "refresh-high")
        _ = script.send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: 1)))
        _ = script.storeFails()
        _ = script.pass(.seconds(2))
        _ = script.wrote(.superseded(by: .active(stored("ada", 2))))
        #expect(script.machine.current?.bundle.binding?.thumbprint == "key-ada")
        #expect(script.refresh(2) == ["lease"])
        var all = script.leased(reading: stored("ada", 2))
        all += script.respond(TokenRefreshResult(accessToken: "access-3", refreshToken: "refresh-3"))
        all += script.wrote()
        #expect(all.filter { $0.hasPrefix("release the") } == ["release the key key-new"])
    }

    @Test func `G32, G34: the keys of several step-ups before one was stored are deleted`() {
        var script = known()
        for (number, key) in [(1, "key-b"), (2, "key-c"), (3, "key-ada"), (4, "key-d")] {
            let tokens = stepUp(key, refreshToken: "refresh-\(key)")
            _ = script.send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: number)))
        }
        let released = Set(script.wrote() + script.wrote()).filter { $0.hasPrefix("release") }
        #expect(released == Set(["ada", "b", "c"].map { "release the key key-\($0)" }))
    }

    @Test func `G32, G34: a step-up with the key of the session deletes none`() {
        for key in ["key-ada", nil] {
            var script = known()
            let tokens = stepUp(key, refreshToken: "refresh-high")
            _ = script.send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: 1)))
            #expect(script.wrote().allSatisfy { !$0.contains("release") })
            #expect(script.machine.current?.bundle.binding?.thumbprint == "key-ada")
        }
    }

    /// KE1: another process may have it, and its place may only be absent here.
    @Test func `a key that is not here ends nothing, is not told to other processes, and the user has a door`() {
        var script = signedIn()
        _ = script.refresh(1)
        let stored = script.lastContent
        let absent = TokenRefreshError(.userActionRequired, stepUp: StepUpChallenge(.key))
        #expect(script.notMade(absent).contains("1: stepUpRequired"))
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "ada")))
        #expect(script.machine.status.userAction?.demand == .key)
        #expect(script.lastContent?.bundle?.refreshIntent?.failure == nil && script.lastContent != stored)
    }

    @Test func `an ending directly after a challenge names the challenge`() {
        var script = signedIn()
        _ = script.refresh(1)
        var error = TokenRefreshError(.rejected, status: 400, serverCode: "invalid_grant")
        error.challenge = "use_dpop_nonce"
        _ = script.respond(error)
        _ = script.reread(.stored("ada", 0))
        _ = script.wrote()
        guard case .signedOut(.expired(let ending)) = script.machine.published else {
            Issue.record("the session stays")
            return
        }
        #expect(
            ending.challenge == "use_dpop_nonce" && ending.description.contains("invalid_grant after use_dpop_nonce"))
    }
}
