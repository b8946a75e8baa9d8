import AuthInterface
import Testing

@testable import TokenRefresh

/// Rule 4: the lease goes before the system suspends the process, and no call is made without it.
@Suite struct SuspensionTests {
    @Test("Rule 4: an attempt that reads the store when the process is about to be suspended makes no call")
    func readingEnds() {
        var script = MachineScript.signedIn(isShared: true)
        #expect(script.refresh(1) == ["lease"])
        #expect(script.leased() == ["reread"])
        #expect(script.tell(.suspensionNear) == ["1: refreshUnavailable", "release"])
        #expect(script.reread(.stored("ada", 0)) == [])
    }

    @Test("Rule 4: an intent that is on its way when the process is about to be suspended causes no call")
    func recordingEnds() {
        var script = MachineScript.signedIn(isShared: true)
        script.recordsIntents = false
        _ = script.refresh(1)
        _ = script.leased()
        #expect(script.reread(.stored("ada", 0)) == ["intent ada g0"])
        #expect(script.tell(.suspensionNear) == ["1: refreshUnavailable", "release"])
        #expect(script.wrote() == [])
    }

    @Test("Rule 4: the lease of the next attempt stays when the process was about to be suspended before")
    func nextLeaseStays() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased()
        _ = script.tell(.suspensionNear)
        _ = script.pass(.seconds(1))
        #expect(script.refresh(2) == ["lease"])
        #expect(script.leased() == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == ["call g0"])
    }

    @Test("Rule 4: the intent of a call under way is marked before the lease goes, and the response is kept")
    func callIsMarked() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.refresh(1)
        _ = script.leased()
        #expect(script.reread(.stored("ada", 0)) == ["call g0"])
        #expect(script.tell(.suspensionNear) == ["mark ada g0"])
        #expect(script.wrote() == ["release"])
        #expect(script.answer() == ["save ada g1"])
    }
}
