import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G13: what the store holds at the write of the end decides, and not what was read before it.
@Suite struct RejectionTests {
    /// A session whose refresh token was rejected, with nothing newer in the store at the read after that.
    private func rejected() -> MachineScript {
        var script = MachineScript.calling()
        #expect(script.rejected() == ["delete"])
        return script
    }

    @Test func `G5, G13, G14: a session ends when its end is stored, and what another process has stored stays`() {
        let newer = StoredSession.active(.stored("ada", 1))
        for (outcome, text, state) in [
            (WriteOutcome.superseded(by: newer), "1: ada g1", "signed in ada"),
            (.superseded(by: .active(.stored("bob", 0))), "signed in bob", "signed in bob"),
            (.superseded(by: .ended("ada")), "signedOut byUser", "signedOut byUser"),
            (.failed(.locked), "1: storeUnavailable", "signed in ada"),
            (.written(replaced: .stored("ada", 0)), "1: sessionEnded", "signedOut expired"),
        ] {
            var script = rejected()
            #expect(script.replaces(.stored("ada", 0)) && !script.replaces(newer), "newer tokens stay")
            let actions = script.wrote(outcome)
            #expect(actions.contains(text) && actions.contains("release") && script.state == state)
        }
        var signedOut = rejected()
        #expect(signedOut.signOut(2).contains("signedOut byUser"))
        _ = signedOut.wrote(.superseded(by: newer))
        #expect(signedOut.replaces(newer), "the user's own end removes newer tokens, too")
    }

    @Test func `G11: while the end of a session that was never stored cannot be stored, its tokens are written`() {
        var script = MachineScript.unstored()
        #expect(script.reread(.stored("ada", 0)) == ["intent bob g0", "call g0"])
        #expect(script.respond(.rejected, isStored: false) == ["reread"])
        #expect(script.reread(.stored("ada", 0)) == ["reread"], "a write has ended since")
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        #expect(script.storeFails() == ["intent bob g0", "2: storeUnavailable"], "with the key of the call")
    }

    @Test(arguments: [false, true])
    func `G9: the end of a session that was never stored also removes what it was to replace`(isRejected: Bool) {
        var script = MachineScript.signedIn(isShared: true)
        script.recordsIntents = false
        _ = script.signIn(1, as: "bob", isStored: false)
        if isRejected {
            _ = script.refused(2, generation: 0, of: "bob")
            #expect(script.leased(reading: .stored("ada", 0)) == ["intent bob g0", "call g0"])
            _ = script.storeFails()
            #expect(script.rejected() == ["delete"])
        } else {
            #expect(script.signOut(2).contains("delete"))
        }
        #expect(script.lastContent?.mayRemoveUnread == true)
        for (found, seconds, isRemoved) in [("ada", 0.0, true), ("bob", 0, true), ("cleo", 1, false)] {
            let bundle = TokenBundle.stored(found, 0, ordinal: SessionOrdinal(at: script.date + seconds))
            #expect(script.replaces(bundle) == isRemoved, "\(found)")
        }
    }
}

/// G4: what an ambiguous refusal, such as a bare 401, counts as.
@Suite struct AmbiguityTests {
    private func script(_ rule: AmbiguityRule) -> MachineScript {
        MachineScript.refreshing(policy: .with { $0.ambiguity = rule })
    }

    private let bare = TokenRefreshError(.ambiguous, status: 401)

    @Test func `G4: by default an ambiguous refusal is a rejection when the next attempt repeats it`() {
        var script = script(.repeated)
        #expect(script.respond(bare) == ["1: refreshUnavailable"])
        #expect(script.refused(2, generation: 0, after: .seconds(60)) == ["call g0"])
        #expect(script.respond(TokenRefreshError(.unavailable, status: 503)) == ["2: refreshUnavailable"])
        for waiter in 3...4 {
            #expect(script.refused(waiter, generation: 0, after: .seconds(60)) == ["call g0"])
            #expect(script.respond(bare) == (waiter == 3 ? ["3: refreshUnavailable"] : ["reread"]))
        }
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
        #expect(script.wrote().contains("signedOut expired"))
        // Another status that the server uses for an expired token counts as 401 does.
        let expired = TokenRefreshError(.ambiguous, status: 419, statusMeansExpired: true)
        var other = self.script(.repeated)
        _ = other.respond(expired)
        #expect(isRejected(expired, &other, after: .seconds(30)))
    }

    @Test func `G4: an ambiguous refusal is not repeated where new tokens, or a demand on the user, came between`() {
        let demand = TokenRefreshError(.userActionRequired, status: 400, stepUp: StepUpChallenge(.interaction))
        for (error, text) in [(nil, "3: refreshUnavailable"), (demand, "3: stepUpRequired")] {
            var script = script(.repeated)
            _ = script.respond(bare)
            _ = script.refresh(2, after: .seconds(60))
            _ = script.respond(error, isStored: true)
            #expect(script.refresh(3, after: .seconds(60)).first?.hasPrefix("call") == true)
            #expect(script.respond(bare) == [text])
            #expect(script.state == "signed in ada")
        }
    }

    @Test(arguments: [(nil, 30), (.seconds(60), 60), (.zero, 10)] as [(Duration?, Int)])
    func `G4: an ambiguous refusal has a cool-down of its own`(cooldown: Duration?, seconds: Int) {
        var script = MachineScript.refreshing(policy: .with { $0.ambiguityCooldown = cooldown ?? $0.ambiguityCooldown })
        _ = script.respond(bare)
        #expect(script.refresh(2, after: .seconds(seconds) - .milliseconds(2_001)) == ["2: refreshUnavailable"])
        #expect(script.refresh(3) == ["3: refreshUnavailable"], "a second cause does not shorten it")
        #expect(script.refresh(4, after: .milliseconds(2_001)) == ["call g0"])
    }

    private func isRejected(_ error: TokenRefreshError, _ script: inout MachineScript, after wait: Duration) -> Bool {
        #expect(script.refresh(1_000, after: wait) == ["call g0"])
        return script.respond(error).contains("reread")
    }

    @Test func `G4: a refusal with another status counts when it comes three times within ten minutes or more`() {
        let unknown = TokenRefreshError(.ambiguous, status: 400, serverCode: "AUTH_004")
        var script = script(.repeated)
        _ = script.respond(unknown)
        for _ in 1...4 { #expect(!isRejected(unknown, &script, after: .seconds(120))) }
        #expect(!isRejected(.unavailable, &script, after: .seconds(100)), "a lost response says nothing")
        #expect(isRejected(unknown, &script, after: .seconds(61)))
        #expect(script.reread(.stored("ada", 0)) == ["delete"])
    }

    @Test func `G4: two refusals with another status, however far apart, and those that differ, count for nothing`() {
        var script = script(.repeated)
        _ = script.respond(TokenRefreshError(.ambiguous, status: 400, serverCode: "AUTH_004"))
        for (status, code) in [(400, "AUTH_004"), (400, "AUTH_005"), (403, "AUTH_005"), (401, nil), (403, "AUTH_005")] {
            let error = TokenRefreshError(.ambiguous, status: status, serverCode: code)
            #expect(!isRejected(error, &script, after: .seconds(1_000)), "\(status)")
        }
    }

    @Test func `G4: by policy an ambiguous refusal is a rejection at once, or never`() {
        var always = script(.always)
        #expect(always.respond(bare) == ["reread"])
        var never = script(.never)
        for waiter in 2...6 {
            _ = never.respond(bare)
            #expect(never.refused(waiter, generation: 0, after: .seconds(60)) == ["call g0"])
        }
        #expect(never.state == "signed in ada")
    }
}
