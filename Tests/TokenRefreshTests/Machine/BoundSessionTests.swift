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
        #expect(script.signOut(1).contains("release the key key-ada"))
        var replaced = signedIn()
        #expect(signIn(&replaced, "bob").contains("release the key key-ada"))
        #expect(replaced.token(0, of: "bob").binding?.thumbprint == "key-bob")
    }

    @Test func `a key is not deleted when its session moves, or when its end cannot be stored`() {
        var moved = signedIn()
        #expect(!moved.send(.signOut(.moved, WaiterID(number: 1))).contains("release the key key-ada"))
        var script = signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased(reading: .stored("ada", 0))
        _ = script.respond(.rejected)
        _ = script.reread(.stored("ada", 0))
        #expect(!script.storeFails().contains("release the key key-ada"))
    }

    @Test func `a key that no longer exists ends the session as lost, in every process`() {
        var script = signedIn()
        _ = script.refresh(1)
        #expect(script.respond(TokenRefreshError(.keyLost)) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        #expect(script.wrote().contains("release the key key-ada"))
        #expect(script.machine.published == .signedOut(.lost()))
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
