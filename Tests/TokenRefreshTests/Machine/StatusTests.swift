import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// What the machine says of its work: the end of all work under way, and the status.
@Suite struct StatusTests {
    @Test func `all work has ended when the call that missed its deadline has ended and its tokens are stored`() {
        var script = MachineScript.signedIn()
        _ = script.refused(1, generation: 0)
        _ = script.pass(.seconds(31))
        #expect(script.settle(2) == [])
        #expect(script.respond() == ["save ada g1"])
        #expect(script.wrote() == ["2: done"])
        #expect(script.settle(3) == ["3: done"])
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
