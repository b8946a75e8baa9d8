import AuthInterface
import Testing

@testable import TokenRefresh

/// Rule 4: the lease is released before the system suspends the process, and no call is made without it.
@Suite struct SuspensionTests {
    @Test func `Rule 4: an attempt that reads the store when the process is about to be suspended makes no call`() {
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.refresh(1) == ["lease"])
        #expect(script.leased() == ["reread"])
        #expect(script.send(.suspensionNear) == ["1: refreshUnavailable", "release"])
        #expect(script.reread(.stored("ada", 0)) == [])
    }

    @Test func `Rule 4: an intent that is being stored when the process is about to be suspended causes no call`() {
        var script = MachineScript.signedIn(isShared: true)
        script.recordsIntents = false
        _ = script.refresh(1)
        _ = script.leased()
        #expect(script.reread(.stored("ada", 0)) == ["intent ada g0"])
        #expect(script.send(.suspensionNear) == ["1: refreshUnavailable", "release"])
        #expect(script.wrote() == [], "the write replaces what was read, to the letter, so it harms no other process")
    }

    @Test func `Rule 4: an attempt after the suspension takes a lease of its own, which stays`() {
        var script = MachineScript.signedIn(isShared: true)
        script.recordsIntents = false
        _ = script.refresh(1)
        _ = script.leased()
        _ = script.reread(.stored("ada", 0))
        _ = script.send(.suspensionNear)
        _ = script.pass(.seconds(1))
        #expect(script.refresh(2) == ["lease"])
        #expect(script.wrote() == [])
        #expect(script.leased() == ["reread"])
    }

    @Test func `Rule 4: the intent of a call under way is marked before the lease goes, and the response is kept`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased()
        #expect(script.reread(.stored("ada", 0)) == ["call g0"])
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        #expect(script.wrote() == ["release"])
        #expect(script.respond() == ["save ada g1"])
    }

    @Test func `Rule 2: a response that is lost after a suspension took the lease is not asked for again at once`() {
        var script = MachineScript.signedIn(isShared: true, tolerance: .sameKey)
        _ = script.refresh(1)
        _ = script.leased()
        _ = script.reread(.stored("ada", 0))
        _ = script.send(.suspensionNear)
        #expect(script.wrote() == ["release"])
        #expect(script.respond(.unavailable) == ["1: refreshUnavailable"])
        _ = script.pass(.seconds(1))
        #expect(script.refresh(2) == ["lease"])
    }
}
