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

/// The laws of responses to callers.
extension World {
    mutating func noteResponse(_ process: Int, _ waiter: Int, _ response: RefreshResponse) {
        guard let index = processes[process].requests.firstIndex(where: { $0.waiter == waiter && $0.isWaiting }) else {
            return fail(.responses, "p\(process + 1) #\(waiter) did not wait and gets \(response.text)")
        }
        let request = processes[process].requests[index]
        checkKind(process, request, response)
        checkSignOut(process, request, response)
        guard case .token(let token) = response else {
            if request.kind == .refresh, case .failed(let error) = response {
                processes[process].retryAt = error.retryAfter.map { now + $0.milliseconds }
            }
            processes[process].requests.remove(at: index)
            return
        }
        processes[process].requests[index].phase = .carrying(token)
        processes[process].requests[index].session = token.session
        if case .replacement(let refused) = request.kind, refused.value == token.value {
            fail(.otherToken, "p\(process + 1) #\(waiter) is given the refused \(token) again")
        }
        checkToken(process, token, from: request.session)
    }

    mutating func checkToken(_ process: Int, _ token: SessionToken, from session: SessionID?) {
        if let session, session != token.session {
            fail(.fence, "p\(process + 1): \(token) for a request of \(session.rawValue)")
        }
        if !token.value.fitsHeaderField { fail(.usable, "p\(process + 1): \(token)") }
        if let current = processes[process].current, current.bundle.mark == token.mark,
            current.bundle.refreshToken != nil, current.expiry.urgency(at: instant.uptime) == .expired
        {
            fail(.expiredToken, "p\(process + 1): \(token)")
        }
        checkLife(process, token)
        let isExcused = processes[process].notes.excused.map { excused in
            excused.session == token.session
                && (excused.generation >= token.generation || excused.accessToken == token.value)
        }
        if !server.grants[Int(named: token.value)].wasStored, isExcused != true {
            fail(.persistence, "p\(process + 1): \(token) is nowhere but in memory")
        }
    }

    /// G19. A response may be late, slept through or a repetition: its token is as old as the server knows it to be.
    private mutating func checkLife(_ process: Int, _ token: SessionToken) {
        let grant = Int(named: token.value)
        // A response that cannot be used ends the key of its call. An earlier call with it may respond later.
        guard plan.server.unusableTokens == 0,
            let received = processes[process].notes.received, received.grant == grant, let lifetime = saidLifetime,
            processes[process].current?.bundle.refreshToken != nil
        else { return }
        let end = server.grants[grant].issuedAt + lifetime
        if now > end { fail(.life, "p\(process + 1): \(token) \(now - end) ms after its end") }
    }

    // MARK: Kinds of responses

    /// A caller gets a response of the kind that it has asked for.
    mutating func checkKind(_ process: Int, _ request: DeviceProcess.Request, _ response: RefreshResponse) {
        var text: String { "p\(process + 1) #\(request.waiter) \(request.kind) gets \(response.text)" }
        switch (request.kind, response) {
        case (_, .cancelled), (.token, .token), (.replacement, .token), (.refresh, .state(.signedIn)),
            (.refresh, .state(.signedOut)), (.signIn, .done), (.signOut, .done), (.settle, .done):
            break
        case (.restore, .state(let state)):
            if state != processes[process].announced { fail(.calls, "\(text) in place of the state") }
        case (_, .failed(let error)):
            if !Self.errors(of: request.kind).contains(error.code) { fail(.calls, "\(text) which it never may") }
            if error.retryAfter == nil, [.refreshUnavailable, .stepUpRequired, .unauthorized].contains(error.code) {
                fail(.calls, "\(text) without the time to wait")
            }
        default: fail(.calls, text)
        }
    }

    private static func errors(of kind: DeviceProcess.Request.Kind) -> [AuthenticationError.Code] {
        let ofRefresh: [AuthenticationError.Code] = [
            .noRefreshToken, .refreshUnavailable, .storeUnavailable, .stepUpRequired,
        ]
        return switch kind {
        case .token: ofRefresh + [.notSignedIn, .sessionEnded]
        case .replacement: ofRefresh + [.sessionEnded, .unauthorized]
        case .refresh: ofRefresh
        case .restore: [.storeUnavailable]
        case .signOut: [.storeUnavailable, .signOutNotStored]
        case .signIn, .settle: []
        }
    }

    /// G30. After a sign-out the tokens of its session are not stored, unless the journal says that they end.
    mutating func checkSignOut(_ process: Int, _ request: DeviceProcess.Request, _ response: RefreshResponse) {
        // A later sign-in replaces the tokens that the sign-out was to remove.
        guard case (.signOut, .done) = (request.kind, response), let session = request.session,
            processes[process].current == nil, let stored = store.content.bundle, stored.session == session,
            journal.entry.ending(of: stored) == nil
        else { return }
        fail(.signedOut, "p\(process + 1) #\(request.waiter) has signed out, and the tokens are stored")
    }
}
