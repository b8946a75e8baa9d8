import AuthInterface
import Foundation

@testable import TokenRefresh

/// The laws for calls.
extension World {
    mutating func checkCall(_ call: Call) {
        let (process, base, token) = (call.process, call.base, call.token)
        let notes = processes[process].notes
        if !plan.server.givesRefreshTokens { fail(.noToken, "p\(process + 1) calls for \(base.traceText)") }
        checkRivals(of: call)
        if call.isUnguarded, plan.noticesLosses || plan.lease.claimTime == nil {
            fail(.leased, "p\(process + 1) calls for \(base.traceText)")
        }
        if let pause = notes.pause, pause.session == base.session, now < pause.until {
            fail(.pause, "p\(process + 1) calls \(pause.until - now) ms too early")
        }
        let grant = server.grants[token]
        if grant.isSuccessorStored, !server.families[grant.family].isDamaged,
            !grant.exchanges.contains(where: isExplained),
            !isTolerated(call)
        {
            fail(.rotation, "p\(process + 1) uses r\(token), whose successor has been stored")
        }
        checkIntent(of: call)
        checkReason(of: call)
    }

    /// G1, G8. No other call for the session, unless the owner of one may have abandoned it, or the server tolerates
    /// it.
    private mutating func checkRivals(of call: Call) {
        for other in calls where !isGivenUp(other, for: call) {
            if isUnderWay(other, with: call.token, of: call.process) {
                fail(
                    .secondCall,
                    "p\(call.process + 1) calls with r\(call.token) during the call of p\(other.process + 1)")
            }
            guard other.base.session == call.base.session, !other.isOrphan,
                processes[other.process].current?.bundle.session == call.base.session
            else { continue }
            fail(
                .singleFlight, "p\(call.process + 1) calls for \(call.base.traceText) while p\(other.process + 1) does")
        }
    }

    /// Rule 4. Whether the owner of another process's call may have abandoned it, and it is tolerated or over its
    /// limit.
    private func isGivenUp(_ other: Call, for call: Call) -> Bool {
        let family = server.families[Int(named: other.base.session.rawValue)]
        if other.isAbandoned || family.isLoggedOut || family.isDamaged { return true }
        guard other.isUnguarded || call.isUnguarded, other.process != call.process else { return false }
        if other.base.generation < call.base.generation { return true }
        // The wall clock measures how long ago another process recorded its intent.
        if plan.rates.clockJumps > 0 || now - other.since >= plan.policy.longestCall.milliseconds { return true }
        switch plan.tolerance {
        case .none: return false
        case .sameKey: return other.key == call.key
        case .within(let window): return now - other.since < window.milliseconds
        }
    }

    /// G12, G27. The store holds the intent, and its key is the one of every call until a response has been applied.
    private mutating func checkIntent(of call: Call) {
        let text = "p\(call.process + 1) calls with r\(call.token)"
        guard !server.families[Int(named: call.base.session.rawValue)].isDamaged else { return }
        if let key = keys[call.base.grant], key != call.key { fail(.key, "\(text) and another key") }
        guard let stored = store.content.bundle, server.grants[call.base.grant].wasStored,
            stored.hasSameTokens(as: call.base), store.condition != .isCorrupt
        else { return }
        if stored.pendingRefresh == nil { fail(.intent, "\(text), and the store does not know") }
    }

    // MARK: Reasons

    /// G19. No refresh without an expiry, a refusal or a request for it, whichever way the wall clock is set.
    private mutating func checkReason(of call: Call) {
        let (process, base) = (call.process, call.base)
        let notes = processes[process].notes
        if let complained = notes.complained, complained == base.mark { return }
        if !base.accessToken.isHeaderSafe { return }
        if let received = notes.received, received.grant == base.grant {
            let isDue = received.lifetime.map { now >= received.at + $0 - window(of: $0) } ?? false
            if !isDue { fail(.clock, "p\(process + 1) calls for \(base.traceText) without a reason") }
        } else {
            // A stored expiry is an instant of the server's clock, where both sides knew that clock.
            let grant = server.grants[base.grant]
            let isKnown = notes.knewServerDate && grant.isDated
            guard isKnown || areClocksRight, let receipt = grant.receipt else { return }
            let longest = max(plan.policy.ahead, plan.policy.leeway).milliseconds
            let isDue = saidLifetime.map { now >= receipt + $0 - longest - 1_000 } ?? false
            if !isDue { fail(.clock, "p\(process + 1) takes \(base.traceText) for expired") }
            checkWindow(process, base, receivedAt: receipt)
        }
    }

    /// Whether the device's clock and the server's show the true time from the world's start to its end.
    var areClocksRight: Bool { plan.rates.clockJumps == 0 && abs(plan.server.skew) < 1 }

    /// How long before the end of a token its ahead window starts, in milliseconds.
    private func window(of lifetime: Int) -> Int {
        let policy = plan.policy
        return max(min(policy.ahead.milliseconds, lifetime / 4), min(policy.leeway.milliseconds, lifetime / 10))
    }

    /// G3. A process that adopted or restored a token refreshes it no earlier than the process that received it.
    private mutating func checkWindow(_ process: Int, _ base: TokenBundle, receivedAt receipt: Int) {
        guard let lifetime = saidLifetime else { return }
        let early = receipt + lifetime - window(of: lifetime) - now
        if early > 100 {
            fail(
                .windows, "p\(process + 1) refreshes \(base.traceText), lifetime \(lifetime) ms, \(early) ms too early")
        }
    }
}
