import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G9: which tokens are revoked when a session ends, and when. Tokens in use are not.
@Suite struct RevokedTokenTests {
    @Test func `G9: a sign-out that removes what no read could show revokes it, where the write shows it`() {
        var script = MachineScript()
        _ = script.signOut(1)
        #expect(script.loaded(.failure(TokenStoreError(.corrupt, reason: "no session"))).contains("delete"))
        #expect(Set(script.wrote(.written(replaced: .stored("ada", 3)))) == ["revoke ada g3", "1: done"])
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
        _ = script.signOut(2)
        _ = script.wrote()
        _ = script.signIn(3, as: "bob")
        _ = script.wrote()
        #expect(script.refresh(4) == ["lease"])
        #expect(script.leased(reading: .stored("bob", 0)) == ["call g0"])
        _ = script.respond()
        #expect(script.storeFails() == ["4: signed in bob"])
        #expect(script.respond(call: call) == [])
        return script
    }

    @Test func `G9: tokens that wait for a write are revoked when the session has ended in the store`() throws {
        var script = try waiting()
        #expect(script.refresh(5) == ["reread"])
        let end = SessionTombstone(session: SessionID(rawValue: "bob"), reason: .byUser, date: script.date)
        #expect(Set(script.reread(.success(.tombstone(end)))).isSuperset(of: ["signedOut byUser", "revoke ada g1"]))
    }

    @Test func `G9: tokens that wait for a write are revoked when another process has signed in`() throws {
        var script = try waiting()
        #expect(script.refresh(5) == ["reread"])
        #expect(Set(script.reread(.stored("cleo", 0))).isSuperset(of: ["signed in cleo", "revoke only ada g1"]))
    }

    @Test func `G9: tokens that a later session has, too, are not revoked`() {
        let (first, second) = (SessionID(rawValue: "ada"), SessionID(rawValue: "bob"))
        for (accessToken, refreshToken, isRevoked) in [
            ("access-ada-0", "another", false), ("another", "refresh-ada-0", false), ("another", "another", true),
        ] {
            var script = MachineScript()
            let old = TokenRefreshResult(accessToken: "access-ada-0", refreshToken: "refresh-ada-0")
            _ = script.send(.signIn(old, first, WaiterID(number: 1)))
            _ = script.wrote()
            let new = TokenRefreshResult(accessToken: accessToken, refreshToken: refreshToken)
            let actions = script.send(.signIn(new, second, WaiterID(number: 2)))
            #expect(actions.contains("revoke only ada g0") == isRevoked, "\(accessToken), \(refreshToken)")
        }
    }

    @Test func `G9: an empty refresh token, as an older version has stored it, is not one that two sessions share`() {
        func stored(_ user: String) -> StoredSession { .active(.stored(user, 0, refreshToken: "")) }
        var script = MachineScript(isShared: true)
        _ = script.ask(1)
        _ = script.loaded(.success(stored("ada")))
        _ = script.signIn(2, as: "bob")
        #expect(script.wrote(.superseded(by: stored("cleo"))).contains("revoke only ada g0"))
    }
}
