import AuthInterface
import Testing

@testable import TokenRefresh

/// What the machine says of its work: the end of all work under way, and the status.
@Suite struct StatusTests {
    @Test func `all work has ended when the last call, its write and the check of the store have ended`() {
        var script = MachineScript.refreshing()
        _ = script.pass(.seconds(31))
        #expect(script.settle(2) == [])
        #expect(script.respond(isStored: true) == ["save ada g1", "2: done"])
        #expect(script.settle(3) == ["3: done"])
        var checking = MachineScript.signedIn(isShared: true)
        #expect(checking.send(.storeChanged) == ["check"])
        #expect(checking.settle(1) == [])
        #expect(checking.checked(.active(.stored("ada", 0))) == ["1: done"])

        // G8, G9: also the call of an ended session, which is over, or would be abandoned.
        var over = MachineScript.refreshing(for: .refresh)
        _ = over.signOut(2, isStored: true)
        #expect(over.settle(3) == [])
        var hanging = over
        #expect(over.respond() == ["revoke ada g1", "3: done"], "tokens that come now are revoked first")
        #expect(hanging.pass(.seconds(129)) == ["cancel call"])
        #expect(hanging.pass(.seconds(1)) == ["3: done"])
    }

    @Test func `The status says that a refresh, and not a sign-in, is under way, and when the last one was`() {
        var script = MachineScript()
        _ = script.signIn(1, as: "ada", refreshToken: "refresh-ada-0")
        #expect(!script.machine.status.isRefreshing)
        _ = script.wrote()
        #expect(!script.machine.status.isRefreshing && script.machine.status.lastRefresh == nil)
        _ = script.refresh(2)
        #expect(script.machine.status.isRefreshing)
        _ = script.finish()
        let date = script.date
        _ = script.pass(.seconds(60))
        #expect(script.machine.status.lastRefresh == date)
    }

    @Test func `G24: a failure of the store is in the status until its next success`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.send(.storeChanged)
        _ = script.checkFails()
        #expect(script.machine.status.storeFailure?.code == .unavailable)
        _ = script.changed(to: .active(.stored("ada", 0)))
        #expect(script.machine.status.storeFailure == nil)

        _ = script.refresh(1)
        _ = script.leased(reading: .failure(.locked))
        #expect(script.machine.status.storeFailure == .locked)
        _ = script.refresh(2, after: .seconds(2), reading: .stored("ada", 0))
        #expect(script.machine.status.storeFailure == nil)

        // That the store can be read does not show that tokens are stored which it did not take.
        var unstored = MachineScript.unstored()
        #expect(unstored.machine.status.storeFailure == .locked)
        _ = unstored.reread(.success(.empty))
        #expect(unstored.machine.status.storeFailure == .locked && !unstored.machine.status.isStored)
        _ = unstored.wrote()
        #expect(unstored.machine.status.storeFailure == nil && unstored.machine.status.isStored)
    }

    @Test func `G24: the status and the error name the process that has the lease, until it is released`() throws {
        let holder = LeaseHolder(process: ProcessIdentity(host: "host", process: "7-ab"), since: nil)
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.send(.lease(.held(by: holder))) == [], "no attempt waits for it")
        #expect(script.machine.status.leaseHolder == nil)
        _ = script.refresh(1)
        _ = script.send(.lease(.held(by: holder)))
        #expect(script.machine.status.leaseHolder == holder)
        var busy = script
        #expect(script.pass(.seconds(30)) == ["1: refreshUnavailable"])
        #expect(busy.leaseFailed() == ["1: refreshUnavailable"])
        for script in [script, busy] {
            let reason = script.machine.status.lastFailure?.reason
            #expect(reason?.contains("held by process 7-ab of host host") == true)
        }
        _ = script.pass(.seconds(60))
        #expect(script.machine.status.leaseHolder == holder)
        _ = script.refresh(2)
        #expect(script.leased() == ["reread"])
        #expect(script.machine.status.leaseHolder == nil)
        _ = busy.changed(to: .active(.stored("ada", 1)))
        #expect(busy.machine.status.leaseHolder == nil, "its tokens are adopted")

        // Rule 4: so is the process whose call may be under way.
        var rival = MachineScript.refreshing(isShared: true)
        let stored = rival.recordedByRival(5)
        #expect(rival.leased(reading: stored, ownerMayCall: true) == ["1: refreshUnavailable", "release"])
        let intent = try #require(stored.refreshIntent)
        let status = rival.machine.status
        #expect(status.leaseHolder == LeaseHolder(process: intent.owner, since: intent.date))
        #expect(status.lastFailure?.reason?.contains("process \(intent.owner)") == true)
    }
}

/// G22: the session of a handler that needs no refresh token. It has begun in the store, and has no token yet.
@Suite struct SessionWithoutSignInTests {
    private let job = TokenBundle(accessToken: "", refreshToken: nil, session: SessionID(rawValue: "job"))
    private let refused = TokenRefreshError(
        .unavailable, retryAfter: .seconds(300), status: 401, serverCode: "invalid_client")

    /// The response of the server: an access token, and nothing else.
    private func token(_ generation: Int) -> TokenRefreshResult {
        TokenRefreshResult(accessToken: "access-job-\(generation)", expiresIn: .seconds(3_600))
    }

    /// A process in which caller 1 has asked for the first token.
    private func started(with bundle: TokenBundle? = nil) -> MachineScript {
        var script = MachineScript(tolerance: .sameKey, needsRefreshToken: false)
        #expect(script.ask(1) == ["load"])
        _ = script.loaded(.success(.active(bundle ?? job)))
        return script
    }

    @Test func `G1, G3: the first requests cause one call without a refresh token, and its token is as a user's`() {
        var script = started()
        #expect(script.lastRequest?.refreshToken == "" && script.lastRequest?.accessToken == "")
        #expect(script.ask(2) == [])
        #expect(script.respond(token(1), isStored: true) == ["save job g1", "1: job g1", "2: job g1"])
        #expect(script.state == "signed in job" && script.machine.status.isRefreshable)
        #expect(script.passToAhead() == [])
        #expect(script.ask(3) == ["3: job g1", "call g1"])
        _ = script.respond(token(2), isStored: true)
        #expect(script.ask(4, after: .seconds(3_600)) == ["call g2"])
        #expect(script.respond(token(3), isStored: true) == ["save job g3", "4: job g3"])
        #expect(script.refused(5, generation: 3, of: "job", after: .seconds(60)) == ["call g3"])
    }

    @Test func `G6: a refused client ends nothing, and its pause is stored with the server's code`() throws {
        var script = started()
        #expect(script.respond(refused) == ["1: refreshUnavailable"])
        #expect(script.state == "signed in job")
        let marked = try #require(script.lastContent?.bundle)
        #expect(marked.refreshIntent?.failure?.serverCode == "invalid_client")
        var next = started(with: marked)
        #expect(next.lastRequest == nil && next.machine.status.lastFailure?.serverCode == "invalid_client")
        #expect(next.ask(2, after: .seconds(300)) == ["call g0"])
    }

    @Test func `after a sign-out requests fail, and restore finds the session that has begun in the store`() {
        var script = started()
        _ = script.respond(token(1), isStored: true)
        _ = script.signOut(3, isStored: true)
        #expect(script.ask(4) == ["4: notSignedIn"])
        #expect(script.restore(5) == ["check"])
        let next = TokenBundle(accessToken: "", refreshToken: nil, session: SessionID(rawValue: "next"))
        #expect(script.checked(.active(next)) == ["signed in next", "5: signed in next"])
        #expect(script.ask(6) == ["call g0"])
        _ = script.signOut(7, isStored: true)
        let late = TokenRefreshResult(accessToken: "access")
        #expect(script.respond(late) == ["revoke next g1"], "G9: it comes too late")
    }
}
