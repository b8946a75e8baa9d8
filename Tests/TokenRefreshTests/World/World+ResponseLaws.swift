import AuthInterface
import ConcurrencyPrimitives

@testable import TokenRefresh

/// The laws of responses to callers.
extension World {
    mutating func noteResponse(_ process: Int, _ waiter: Int, _ response: RefreshResponse, _ before: MachineSnapshot) {
        for index in 0..<processes[process].requests.count
        where processes[process].requests[index].waiter == waiter && processes[process].requests[index].isWaiting {
            let request = processes[process].requests[index]
            checkLateness(process, waiter, response, before)
            checkUnauthorized(process, request, response)
            checkFailure(process, request, response)
            checkKind(process, request, response)
            checkPromise(process, request, response)
            guard case .token(let token) = response else {
                if request.kind == .refresh, case .failed(let error) = response {
                    processes[process].retryAt = error.retryAfter.map { now + $0.milliseconds }
                }
                processes[process].requests.remove(at: index)
                return
            }
            processes[process].requests[index].phase = .carrying(token)
            processes[process].requests[index].session = token.session
            processes[process].requests[index].handedAt = events
            if case .replacement(let refused) = request.kind {
                processes[process].requests[index].replacedAt = now
                if refused.value == token.value {
                    fail(.otherToken, "p\(process + 1) #\(waiter) is given the refused \(token.traceText) again")
                }
            }
            checkToken(process, token, from: request.session)
            if case .requested(.token, _) = before.event, before.session == token.session {
                checkLeeway(process, token)
            }
            return
        }
        fail(.responses, "p\(process + 1) #\(waiter) did not wait and gets \(response.text)")
    }

    // MARK: Tokens

    mutating func checkToken(_ process: Int, _ token: SessionToken, from session: SessionID?) {
        if let session, session != token.session {
            fail(.fence, "p\(process + 1): \(token.traceText) for a request of \(session.rawValue)")
        }
        if !token.value.fitsHeaderField { fail(.usable, "p\(process + 1): \(token.traceText)") }
        if let current = processes[process].current, current.bundle.mark == token.mark,
            current.bundle.refreshToken != nil, current.expiry.urgency(at: instant.uptime) == .expired
        {
            fail(.expiredToken, "p\(process + 1): \(token.traceText)")
        }
        checkLife(process, token)
        if !server.grants[Int(named: token.value)].wasStored, !isExcused(process, token) {
            fail(.persistence, "p\(process + 1): \(token.traceText) is nowhere but in memory")
        }
    }

    /// G19. A response may be late, slept through or a repetition: its token is as old as the server knows it to be.
    private mutating func checkLife(_ process: Int, _ token: SessionToken) {
        let grant = Int(named: token.value)
        // A response that cannot be used ends the key of its call. An earlier call with it may respond later.
        guard plan.server.unusableTokens == 0,
            let received = processes[process].notes.received, received.grant == grant, received.since >= 0,
            let lifetime = received.lifetime, processes[process].current?.bundle.refreshToken != nil
        else { return }
        let end = server.grants[grant].issuedAt + lifetime
        if now > end { fail(.life, "p\(process + 1): \(token.traceText) \(now - end) ms after its end") }
    }

    private func isExcused(_ process: Int, _ token: SessionToken) -> Bool {
        guard let excused = processes[process].notes.excused else { return false }
        return excused.session == token.session
            && (excused.generation >= token.generation || excused.accessToken == token.value)
    }

    /// Whether the next attempt cannot start yet: in a pause, or while a call of an attempt that is over is under way.
    private func isHeldUp(_ process: Int) -> Bool {
        let notes = processes[process].notes
        if let failure = notes.failure, now < failure.until { return true }
        // The pause of another process holds here, too (rule 7).
        if let token = processes[process].current?.bundle.refreshToken,
            let end = pauses[Int(named: token)], now <= end + 2
        {
            return true
        }
        guard !notes.isAttempting else { return false }
        // A mark that could not be written is written again, and keeps the abandoned call until then.
        let isMarking =
            processes[process].machine.value.unsavedContent?.bundle?.refreshIntent?.isAbandoned == true
        return calls.contains { $0.process == process && !$0.isOrphan && (!$0.isAbandoned || isMarking) }
    }

    /// G3. Inside the leeway requests wait for the refresh, unless it has failed a moment ago.
    mutating func checkLeeway(_ process: Int, _ token: SessionToken) {
        guard let bundle = processes[process].current?.bundle, bundle.mark == token.mark,
            !isHeldUp(process), bundle.refreshToken != nil,
            let received = processes[process].notes.received, received.grant == Int(named: token.value),
            let lifetime = received.lifetime
        else { return }
        let left = received.at + lifetime - now
        if left < min(plan.policy.leeway.milliseconds, lifetime / 10) {
            fail(.leeway, "p\(process + 1): \(token.traceText) \(left) ms before its end")
        }
    }

    // MARK: Failures

    /// G2. The current token is valid as far as is known, and it is another than the refused one.
    private mutating func checkLateness(
        _ process: Int, _ waiter: Int, _ response: RefreshResponse, _ before: MachineSnapshot
    ) {
        guard isLateRefusal(before), case .requested(_, let id) = before.event, id.number == waiter else { return }
        if case .token = response { return }
        fail(.lateRefusal, "p\(process + 1) #\(waiter) gets \(response.text)")
    }

    /// G6. A request fails because of a failure, and a success ends the failures before it.
    private mutating func checkFailure(_ process: Int, _ request: DeviceProcess.Request, _ response: RefreshResponse) {
        guard case .failed(let error) = response, error.code == .refreshUnavailable else { return }
        // A caller whose deadline has passed fails although the attempt continues (G25).
        let deadline = plan.policy.deadline.milliseconds
        if request.wasSuspended || now - request.since >= deadline - deadline / 64 { return }
        if !processes[process].notes.isFailing, !isHeldUp(process) {
            fail(.success, "p\(process + 1) #\(request.waiter) gets \(response.text)")
        }
    }

    /// G10. Before a request fails as unauthorized, the store is checked; and only requests to the refusing endpoint
    /// fail.
    private mutating func checkUnauthorized(
        _ process: Int, _ request: DeviceProcess.Request, _ response: RefreshResponse
    ) {
        guard case .failed(let error) = response, error.code == .unauthorized,
            case .replacement(let refused) = request.kind
        else { return }
        var text: String { "p\(process + 1) #\(request.waiter) with \(refused.traceText)" }
        let isCoolingDown = processes[process].notes.coolDowns[request.endpoint] ?? 0 > request.since
        if !request.mayBeUnauthorized, !isCoolingDown { fail(.endpoint, "\(text) at e\(request.endpoint)") }
        guard isShared, let stored = store.content.bundle, stored.session == refused.session,
            stored.generation > refused.generation, stored.accessToken != refused.value,
            [.works, .failsToWrite].contains(condition(for: process)),
            !processes[process].isChecking
        else { return }
        if let check = processes[process].check, check.order >= request.order {
            // What the check did not find was stored after it. A store that failed has shown nothing.
            guard let found = check.found?.bundle else { return }
            if found.session != refused.session || found.generation <= refused.generation { return }
        }
        fail(.newerStored, "\(text); the store holds \(stored.traceText)")
    }

    /// Notes what the rule of G10 allows for a refusal, before the machine gets it.
    func noteRefusal(_ process: Int, _ index: Int, _ token: SessionToken) {
        let (request, notes) = (processes[process].requests[index], processes[process].notes)
        let freshness = plan.policy.freshness.milliseconds
        let isCoolingDown = notes.coolDowns[request.endpoint] ?? 0 > now
        let isReplacement = request.replacedAt.map { now < $0 + freshness } ?? false
        let isFresh = notes.refreshed.map { $0.mark.session == token.session && now < $0.at + freshness } ?? false
        let isSecond = notes.coolDowns.contains { $0.key != request.endpoint && $0.value > now } && !isReplacement
        let causesRefresh = isFresh && isSecond && now >= notes.nextVerificationAt
        processes[process].requests[index].mayBeUnauthorized =
            isCoolingDown || isReplacement || (isFresh && !causesRefresh)
        if causesRefresh, !isCoolingDown, processes[process].current?.bundle.accessToken == token.value {
            processes[process].notes.nextVerificationAt = now + plan.policy.refusalCooldown.milliseconds
        }
    }
}
