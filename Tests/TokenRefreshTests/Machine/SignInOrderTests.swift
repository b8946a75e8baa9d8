import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G9: a sign-in that is tried again leaves one that was asked for later, and its caller does not fail with its store.
@Suite struct SignInOrderTests {
    /// A sign-in of bob in another process, this long after the script's date.
    private func bob(_ script: MachineScript, after seconds: TimeInterval, generation: Int = 0) -> StoredSession {
        .active(
            TokenBundle(
                accessToken: "access-bob-\(generation)", refreshToken: "refresh-bob-\(generation)",
                session: SessionID(rawValue: "bob"), generation: generation, receivedAt: script.date + seconds))
    }

    /// ada's sign-in, which could not be stored at first and is tried again.
    private func retrying() -> MachineScript {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "ada", refreshToken: "refresh-ada-0")
        _ = script.storeFails()
        #expect(script.pass(.seconds(1)) == ["save ada g0"])
        return script
    }

    @Test func `A sign-in that is tried again leaves one that began later`() {
        let script = retrying()
        for (seconds, isLater) in [(-10.0, false), (1, true)] {
            let found = bob(script, after: seconds)
            #expect((script.lastContent?.replacement(for: .success(found)) == nil) == isLater)
        }
    }

    @Test func `A session that was refreshed since does not show when it began, and is replaced`() {
        let script = retrying()
        let new = script.lastContent?.replacement(for: .success(bob(script, after: 1, generation: 3)))
        #expect(new?.bundle?.session.rawValue == "ada")
    }

    @Test func `A sign-in that another process asked for later stays, however late the first write comes`() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "ada")
        let late = script.date + 10
        for (seconds, isLater) in [(-1.0, false), (1, true)] {
            let new = script.lastContent?.replacement(for: .success(bob(script, after: seconds)), at: late)
            #expect((new == nil) == isLater)
        }
    }

    @Test func `A later sign-in that the first read shows is not one that this sign-in replaces`() {
        for (seconds, isLater) in [(-1.0, false), (1, true)] {
            var script = MachineScript(isShared: true)
            script.recordsIntents = false
            #expect(Set(script.signIn(1, as: "ada", refreshToken: "refresh-ada-0")) == ["load", "save ada g0"])
            let other = bob(script, after: seconds)
            _ = script.pass(.seconds(2))
            _ = script.loaded(.success(other))
            _ = script.storeFails()
            #expect(script.refused(2, generation: 0) == ["lease"])
            _ = script.leased(reading: .success(other))
            #expect(script.lastContent?.bundle?.refreshIntent != nil)
            #expect((script.lastContent?.replacement(for: .success(other), at: script.date) == nil) == isLater)
        }
    }

    @Test func `The date of a clock that was set back since does no harm`() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "ada")
        let new = script.lastContent?.replacement(for: .success(bob(script, after: 86_400)), at: script.date + 10)
        #expect(new?.bundle?.session.rawValue == "ada")
    }

    @Test func `A sign-in that finds a later one when it is tried again follows it`() {
        var script = retrying()
        _ = script.wrote(.superseded(by: bob(script, after: 1)))
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "bob")))
        #expect(script.pass(.seconds(300)) == [], "ada comes back")
    }

    @Test func `The refreshed tokens of a sign-in that was not stored leave one that began later`() {
        var script = MachineScript(isShared: true)
        script.recordsIntents = false
        _ = script.signIn(1, as: "ada", refreshToken: "refresh-ada-0")
        _ = script.storeFails()
        _ = script.refused(2, generation: 0)
        _ = script.leased(reading: .success(.empty))
        #expect(script.lastContent?.bundle?.refreshIntent != nil)
        #expect(script.lastContent?.replacement(for: .success(bob(script, after: 1))) == nil)
    }

    @Test func `A sign-in that ends before it could be stored fails only the caller of its end`() {
        var script = MachineScript()
        _ = script.signIn(1, as: "ada")
        let save = script.lastWrite
        #expect(script.signOut(2).contains("signedOut byUser"))
        #expect(script.send(.wrote(version: save, .failed(.locked))).contains("1: done"))
        #expect(script.storeFails().contains("2: storeUnavailable"))
    }

    @Test func `A sign-in behind a write that failed follows a later one that it finds at its first write`() {
        var script = MachineScript(isShared: true)
        _ = script.signIn(1, as: "ada")
        let first = script.lastWrite
        _ = script.signIn(2, as: "carol")
        #expect(script.send(.wrote(version: first, .failed(.locked))).contains("save carol g0"))
        #expect(script.wrote(.superseded(by: bob(script, after: 1))).contains("signed in bob"))
        #expect(script.machine.published == .signedIn(SessionID(rawValue: "bob")))
    }

    @Test func `A sign-out that a later sign-in replaces does not fail with the store`() {
        var script = MachineScript.signedIn()
        _ = script.signOut(1)
        let removal = script.lastWrite
        _ = script.signIn(2, as: "bob")
        #expect(script.send(.wrote(version: removal, .failed(.locked))).contains("1: done"))
    }

    @Test(arguments: [(0, false), (1, true)])
    func `Tokens of an earlier session that a sign-out removes are not revoked again, unless they are newer`(
        generation: Int, areRevoked: Bool
    ) {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.signIn(1, as: "bob")
        #expect(script.storeFails().contains("revoke only ada g0"))
        #expect(script.pass(.seconds(1)) == ["save bob g0"])
        _ = script.storeFails()
        #expect(script.signOut(2).contains("delete"))
        let removed = script.wrote(.written(replaced: .stored("ada", generation)))
        #expect(removed.contains("revoke bob g0") && removed.contains("revoke ada g\(generation)") == areRevoked)
    }

    @Test func `G19: a session that the user has left does not come back, although the clock was set back since`() {
        var script = MachineScript.signedIn(isShared: true)
        let left = TokenBundle.stored("ada", 0, receivedAt: script.date)
        script.date -= 86_400
        _ = script.signIn(1, as: "bob")
        _ = script.storeFails()
        #expect(script.pass(.seconds(1)) == ["save bob g0"])
        let new = script.lastContent?.replacement(for: .success(.active(left)))
        #expect(new?.bundle?.session.rawValue == "bob")
    }
}
