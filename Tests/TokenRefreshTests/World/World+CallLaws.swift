import AuthInterface

@testable import TokenRefresh

/// The laws for calls.
extension World {
    mutating func checkCall(_ call: Call) {
        let (process, base, token) = (call.process, call.base, call.token)
        let notes = processes[process].notes
        checkRivals(of: call)
        let isUnaware = isUnaware(process)
        if isShared, !holdsLease(process), !isUnaware { fail(.leased, "p\(process + 1) calls for \(base)") }
        if let pause = notes.pause, pause.session == base.session, now < pause.until {
            fail(.pause, "p\(process + 1) calls \(pause.until - now) ms too early")
        }
        // A process that has lost the lease unawares has not read of a later failure.
        if let end = pauses[token], now < end, clockSetAt == nil, holdsLease(process) || !isUnaware {
            fail(.pause, "p\(process + 1) calls \(end - now) ms too early, by the pause that is stored")
        }
        let grant = server.grants[token]
        let family = server.families[grant.family]
        // After a sign-out no user misses the session.
        if grant.isSuccessorStored, !family.isLoggedOut, !grant.exchanges.contains(where: isExplained),
            !isTolerated(call)
        {
            fail(.rotation, "p\(process + 1) uses r\(token), whose successor has been stored")
        }
        if notes.spent.contains(token), !family.isLoggedOut {
            fail(.rotation, "p\(process + 1) uses r\(token), whose successor it has received")
        }
        checkIntent(of: call)
        checkReason(of: call)
    }

    /// G1, G8. No other call for the session, unless it may have been abandoned, or the server tolerates it.
    private mutating func checkRivals(of call: Call) {
        for other in calls where other.phase != .made && !isGivenUp(other, for: call) {
            // The call of a process that was killed has ended for it.
            guard !other.isOrphan else { continue }
            var text: String { "p\(call.process + 1) calls for \(call.base) as p\(other.process + 1) does" }
            if other.token == call.token, plan.server.rotates { fail(.secondCall, text) }
            let current = processes[other.process].current?.bundle.session
            if other.base.session == call.base.session, current == call.base.session { fail(.singleFlight, text) }
        }
    }

    /// Rule 4. Whether another process may have abandoned its call, which is tolerated or over its limit.
    private func isGivenUp(_ other: Call, for call: Call) -> Bool {
        if other.isAbandoned || server[other.base.session].isLoggedOut { return true }
        guard other.isUnguarded || call.isUnguarded, other.process != call.process else { return false }
        if other.base.generation < call.base.generation { return true }
        // A process that has lost its lease unawares calls with a key. Another one has repeated that call, and gone on
        // since: the server answers both alike.
        if other.base.generation > call.base.generation, isTolerated(call), plan.tolerance == .sameKey {
            return server.grants[call.token].key == call.key
        }
        return isOver(since: other.since)
            || isTolerated(since: other.since) && (plan.tolerance != .sameKey || other.key == call.key)
    }

    /// G12, G27. The store holds the intent, and its key is the one of every call until a response has been applied.
    /// One that was applied by another process may have ended the session.
    private mutating func checkIntent(of call: Call) {
        var text: String { "p\(call.process + 1) calls with r\(call.token)" }
        if let key = keys[call.base.grant], key != call.key, !server[call.base.session].isRetired {
            fail(.key, "\(text) and another key")
        }
        guard let stored = store.content.bundle, server.grants[call.base.grant].wasStored,
            stored.hasSameTokens(as: call.base)
        else { return }
        if stored.refreshIntent == nil { fail(.intent, "\(text), and the store does not know") }
        let grant = server.grants[call.token]
        if grant.wasStored, !grant.intents.contains(call.key) {
            fail(.intent, "\(text), and the store never knew of the key")
        }
    }

    /// G19. No refresh without an expiry, a refusal or a request for it. When a restored token expires, the tables say.
    private mutating func checkReason(of call: Call) {
        let (received, base) = (processes[call.process].notes.received, call.base)
        if call.complained?.mark == base.mark || !base.accessToken.fitsHeaderField { return }
        if let lifetime = saidLifetime {
            guard let received, received.grant == base.grant else { return }
            let (life, since) = (Duration.milliseconds(lifetime), Duration.milliseconds(received.since))
            let expiry = Expiry(of: base, lifetime: life, at: since, policy: plan.policy)
            guard let start = expiry.aheadFrom, instant.uptime < start else { return }
        }
        fail(.clock, "p\(call.process + 1) calls for \(base) without a reason")
    }
}

/// Damage that one process does to another: the second use of a refresh token.
extension World {
    /// Whether the response of an exchange is lost, or its owner has released the lease and the call would be over.
    func isExplained(_ exchange: AuthorizationServer.Exchange) -> Bool {
        switch exchange.fate {
        case .lost, .crashed: true
        case .underWay, .received:
            exchange.isUnguarded && (isOver(since: exchange.since) || isTolerated(since: exchange.since))
        }
    }

    /// Whether another process takes a call of an instant for ended. It measures the time by the wall clock.
    private func isOver(since instant: Int) -> Bool {
        isClockSet(since: instant) || now - instant >= plan.policy.longestCall.milliseconds
    }

    /// Whether the server tolerates a call beside one of an instant.
    private func isTolerated(since instant: Int) -> Bool {
        switch plan.tolerance {
        case .none: false
        case .sameKey: true
        case .within(let window): now - instant < window.milliseconds
        }
    }

    /// Whether a call without the lease is at its limit, when other processes take it for ended, and its process does
    /// not know yet: its timer is just due, or it slept. It still gets the time to read its response (G8).
    private func isOverLimit(_ call: Call) -> Bool {
        let isDue = call.since + plan.policy.longestCall.milliseconds
        let hasSlept = call.hasSlept || processes[call.process].isSuspended
        return call.isUnguarded && now >= isDue && (hasSlept || now <= isDue + Self.lateness)
    }

    /// Whether the server tolerates a call without the lease, which cannot know that a successor is being stored.
    func isTolerated(_ call: Call) -> Bool {
        guard call.isUnguarded else { return false }
        let exchanges = server.grants[call.token].exchanges
        return exchanges.contains { isClockSet(since: $0.since) || isTolerated(since: $0.since) }
    }

    /// G8, G12. A refresh token is used again only after a response that no process can have.
    mutating func checkReuse(_ call: Call) {
        guard server.isReuse(call.token, key: call.key, at: now) else { return }
        let grant = server.grants[call.token]
        let family = server.families[grant.family]
        // After a sign-out or another sign-in no user misses the session.
        guard !family.isLoggedOut, !family.isRetired else { return }
        if plan.server.honoursKeys, plan.server.revokesOnReuse {
            fail(.keys, "p\(call.process + 1) uses r\(call.token) again, with another key than before")
        }
        // The call of a process that was killed, or has left the session, may arrive after a call that was made since.
        let current = processes[call.process].current?.bundle.session
        guard !call.isOrphan, !call.isAbandoned, current == call.base.session else { return }
        for exchange in grant.exchanges where !isExplained(exchange) && !isTolerated(call) && !isOverLimit(call) {
            guard processes[exchange.process].newest?.session == call.base.session else { continue }
            fail(.reuse, "p\(call.process + 1) uses r\(call.token) again, although p\(exchange.process + 1) lives")
        }
    }
}
