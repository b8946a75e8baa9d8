import AuthInterface
import Testing

@testable import TokenRefresh

/// G4: what an ambiguous refusal, such as a bare 401, counts as.
@Suite struct AmbiguityTests {
    private func script(_ rule: AmbiguityRule) -> MachineScript {
        var policy = TokenRefreshPolicy()
        policy.ambiguity = rule
        var script = MachineScript.signedIn(policy: policy)
        _ = script.refused(1, generation: 0)
        return script
    }

    private let bare = TokenRefreshError(.ambiguous, status: 401)

    @Test func `G4: by default an ambiguous refusal is a rejection when the next attempt repeats it`() {
        var script = script(.repeated)
        #expect(script.respond(bare) == ["1: refreshUnavailable"])
        _ = script.pass(.seconds(60))
        #expect(script.refused(2, generation: 0) == ["call g0"])
        #expect(script.respond(TokenRefreshError(.unavailable, status: 503)) == ["2: refreshUnavailable"])
        for waiter in 3...4 {
            _ = script.pass(.seconds(60))
            #expect(script.refused(waiter, generation: 0) == ["call g0"])
            #expect(script.respond(bare) == (waiter == 3 ? ["3: refreshUnavailable"] : ["reread"]))
        }
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        #expect(script.wrote().contains("signedOut expired"))
    }

    @Test func `G4: by policy an ambiguous refusal is a rejection at once, or never`() {
        var always = script(.always)
        #expect(always.respond(bare) == ["reread"])
        var never = script(.never)
        for waiter in 2...6 {
            _ = never.respond(bare)
            _ = never.pass(.seconds(60))
            #expect(never.refused(waiter, generation: 0) == ["call g0"])
        }
        #expect(never.machine.published == .signedIn(SessionID(rawValue: "ada")))
    }
}
