import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// What the machine says of its work: the end of all work under way, and the status.
@Suite struct StatusTests {
    @Test func `all work has ended when the call that missed its deadline has ended and its tokens are stored`() {
        var script = MachineScript.refreshing()
        _ = script.pass(.seconds(31))
        #expect(script.settle(2) == [])
        #expect(script.respond() == ["save ada g1"])
        #expect(script.wrote() == ["2: done"])
        #expect(script.settle(3) == ["3: done"])
    }

    @Test func `G8, G9: all work has ended when the call of an ended session is over, or would be abandoned`() {
        var script = MachineScript.refreshing(for: .refresh)
        _ = script.signOut(2, isStored: true)
        #expect(script.settle(3) == [])
        var hanging = script
        #expect(script.respond() == ["revoke ada g1", "3: done"], "tokens that come now are revoked first")
        #expect(hanging.pass(.seconds(129)) == ["cancel call"])
        #expect(hanging.pass(.seconds(1)) == ["3: done"])
    }

    @Test func `all work has ended when the check of the store has ended`() {
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.send(.storeChanged) == ["check"])
        #expect(script.settle(1) == [])
        #expect(script.checked(.active(.stored("ada", 0))) == ["1: done"])
    }

    @Test func `The status says that a refresh is under way, but not during a sign-in`() {
        var script = MachineScript()
        _ = script.signIn(1, as: "ada", refreshToken: "refresh-ada-0")
        #expect(!script.machine.status.isRefreshing)
        _ = script.wrote()
        #expect(!script.machine.status.isRefreshing)
        _ = script.refresh(2)
        #expect(script.machine.status.isRefreshing)
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
    }

    @Test func `G24: that the store can be read does not show that tokens are stored which it did not take`() {
        var script = MachineScript.unstored("bob")
        #expect(script.machine.status.storeFailure == .locked)
        _ = script.reread(.success(.empty))
        #expect(script.machine.status.storeFailure == .locked && !script.machine.status.isStored)
        _ = script.wrote()
        #expect(script.machine.status.storeFailure == nil && script.machine.status.isStored)
    }

    @Test func `G24: the status and the error name the process that has the lease, until it is released`() {
        let holder = LeaseHolder(process: ProcessIdentity(host: "host", process: "7-ab"), since: nil)
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.send(.leaseHeld(holder)) == [], "no attempt waits for it")
        #expect(script.machine.status.leaseHolder == nil)
        _ = script.refresh(1)
        _ = script.send(.leaseHeld(holder))
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
    }

    @Test func `G24, rule 4: the process whose call may be under way is named`() {
        var script = MachineScript.refreshing(isShared: true)
        let intent = script.rivalIntent(age: 5)
        let stored = TokenBundle.stored("ada", 0).with(refreshIntent: intent)
        #expect(script.leased(reading: stored, ownerMayCall: true) == ["1: refreshUnavailable", "release"])
        let status = script.machine.status
        #expect(status.leaseHolder == LeaseHolder(process: intent.owner, since: intent.date))
        #expect(status.lastFailure?.reason?.contains("process \(intent.owner)") == true)
    }

    @Test func `The status says when the tokens were refreshed last`() {
        var script = MachineScript.refreshedOnce()
        let date = script.date
        _ = script.pass(.seconds(60))
        #expect(script.machine.status.lastRefresh == date)
        #expect(MachineScript.signedIn().machine.status.lastRefresh == nil)
    }
}

extension MachineScript {
    fileprivate mutating func settle(_ waiter: Int) -> [String] {
        send(.requested(.settle, WaiterID(number: waiter)))
    }
}
