import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G9: which tokens are revoked when a session ends, and when. Tokens in use are not.
@Suite struct RevokedTokenTests {
    @Test(arguments: [false, true])
    func `G9: a sign-in before the first read revokes what it has replaced, where the write shows it`(isShared: Bool) {
        var script = MachineScript(isShared: isShared)
        _ = script.signIn(1, as: "bob")
        #expect(script.wrote(.written(replaced: .stored("ada", 3))).filter(\.isRevocation) == ["revoke only ada g3"])
    }

    @Test func `G9: the end of a sign-in that was not stored may remove what was not read, and then revokes it`() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "bob", isStored: false)
        #expect(script.signOut(2).contains("delete") && script.lastContent?.mayRemoveUnread == true)
        let actions = script.wrote(.written(replaced: .stored("ada", 3)))
        #expect(Set(actions.filter(\.isRevocation)) == ["revoke ada g3", "revoke bob g0"])
        var stored = MachineScript.signedIn()
        #expect(stored.signOut(1).contains("delete") && stored.lastContent?.mayRemoveUnread == false)
    }

    @Test func `G9: a sign-in revokes the session that it follows once, unless newer tokens of it were stored`() {
        for (generation, revocations) in [
            (0, ["revoke only ada g0"]), (1, ["revoke only ada g1", "revoke only ada g0"]),
        ] {
            var script = MachineScript.signedIn(isShared: true)
            _ = script.signIn(1, as: "bob")
            let outcome = WriteOutcome.written(replaced: .stored("ada", generation))
            #expect(script.wrote(outcome).filter(\.isRevocation) == revocations)
        }
        var quick = MachineScript.signedIn(isShared: true)
        _ = quick.signIn(1, as: "bob")
        _ = quick.signIn(2, as: "cleo")
        #expect(quick.wrote(.written(replaced: .stored("ada", 0))).filter(\.isRevocation) == ["revoke only ada g0"])
        #expect(quick.wrote(.written(replaced: .stored("bob", 0))).filter(\.isRevocation) == ["revoke only bob g0"])
        var script = MachineScript.signedIn()
        #expect(script.signIn(1, as: "bob").contains("revoke only ada g0"))
        #expect(script.wrote(.written(replaced: .stored("ada", 0))).filter(\.isRevocation) == [])
    }

    @Test func `G9: a sign-out that finds the session of another process revokes beside it, and then follows it`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.signOut(1)
        let bob = StoredSession.active(.stored("bob", 0))
        #expect(script.wrote(.superseded(by: bob)) == ["revoke only ada g0", "1: done", "check"])
        #expect(script.checked(bob) == ["signed in bob"])
    }

    @Test func `G9: a sign-in that finds another process's session, and the sign-out after it, revoke beside that`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.signIn(1, as: "bob")
        _ = script.signOut(2)
        let found = WriteOutcome.superseded(by: .active(.stored("cleo", 0)))
        #expect(script.wrote(found).filter(\.isRevocation) == ["revoke only ada g0"])
        #expect(script.wrote(found).filter(\.isRevocation) == ["revoke only bob g0"])
        #expect(script.wrote(found) == [], "it has ended")
    }

    @Test func `G9: tokens that the session found in the store has, too, are not revoked`() {
        for (token, isRevoked) in [("refresh-ada-0", false), ("another", true)] {
            var script = MachineScript.signedIn(isShared: true)
            _ = script.signOut(1)
            let actions = script.wrote(.superseded(by: .active(.stored("bob", 0, refreshToken: token))))
            #expect(actions.contains("revoke only ada g0") == isRevoked, "\(token)")
        }
    }

    @Test func `G9: a token that the server has called invalid is not revoked when its session ends`() {
        var script = MachineScript.signedIn(refreshToken: nil)
        #expect(script.refused(2, TokenRefusal(of: script.token(0), saysTokenIsInvalid: true)).contains("delete"))
        #expect(script.wrote(.written(replaced: .stored("ada", 0))).filter(\.isRevocation) == [])
    }

    @Test func `G9: tokens are revoked although the store is too slow to remove them`() {
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.signOut(1) == ["delete", "signedOut byUser"])
        #expect(script.pass(.seconds(9)) == [])
        #expect(Set(script.pass(.seconds(1))) == ["revoke ada g0", "1: storeUnavailable"])
    }

    /// Bob has signed in after ada, whose call is still under way. His tokens are not stored, and ada's response has
    /// brought tokens that wait to be revoked until they are.
    private func waiting() throws -> MachineScript {
        var script = MachineScript.calling(for: .refresh)
        let call = try #require(script.call)
        _ = script.signOut(2, isStored: true)
        _ = script.signIn(3, as: "bob", isStored: true)
        #expect(script.refresh(4, reading: .stored("bob", 0)) == ["call g0"])
        _ = script.respond()
        #expect(script.storeFails() == ["4: signed in bob"])
        #expect(script.respond(call: call) == [])
        return script
    }

    @Test func `G9: tokens that wait for a write are revoked when their session has ended or is replaced`() throws {
        var script = try waiting()
        #expect(script.refresh(5) == ["reread"])
        var replaced = script
        let ended = script.reread(.success(.ended("bob")))
        #expect(Set(ended).isSuperset(of: ["signedOut byUser", "revoke ada g1"]))
        let followed = replaced.reread(.stored("cleo", 0))
        #expect(Set(followed).isSuperset(of: ["signed in cleo", "revoke only ada g1"]))
    }

    @Test func `G9: tokens that a later session has, too, are not revoked`() {
        for (accessToken, refreshToken, isRevoked) in [
            ("access-ada-0", "another", false), ("another", "refresh-ada-0", false), ("another", "another", true),
        ] {
            var script = MachineScript.signedIn()
            let new = TokenRefreshResult(accessToken: accessToken, refreshToken: refreshToken)
            let actions = script.signIn(2, as: "bob", with: new)
            #expect(actions.contains("revoke only ada g0") == isRevoked, "\(accessToken), \(refreshToken)")
        }
    }

    @Test func `G9: an empty refresh token, as an older version has stored it, is not one that two sessions share`() {
        func stored(_ user: String) -> TokenBundle { .stored(user, 0, refreshToken: "") }
        var script = MachineScript(isShared: true)
        _ = script.start(with: stored("ada"))
        _ = script.signIn(2, as: "bob")
        #expect(script.wrote(.superseded(by: .active(stored("cleo")))).contains("revoke only ada g0"))
    }
}

extension String {
    fileprivate var isRevocation: Bool { hasPrefix("revoke") }
}
