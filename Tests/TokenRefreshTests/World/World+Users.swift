import AuthInterface

@testable import TokenRefresh

/// What users, their requests and the timers of a process do.
extension World {
    /// A request gets its token, or waits for one.
    mutating func sendRequest(_ process: Int, endpoint: Int) {
        let session = processes[process].current?.bundle.session
        let waiter = add(.token, process, of: session)
        let index = processes[process].requests.count - 1
        processes[process].requests[index].endpoint = endpoint
        guard let token = processes[process].machine.value.ready?.token(at: instant.uptime) else {
            return send(process, .requested(.token, waiter))
        }
        processes[process].requests[index].phase = .carrying(token)
        processes[process].requests[index].session = token.session
        if isTraced { note("p\(process + 1) #\(waiter.number) has \(token) at once") }
        checkToken(process, token, from: session)
    }

    /// Adds a request that waits.
    private mutating func add(
        _ kind: DeviceProcess.Request.Kind, _ process: Int, of session: SessionID? = nil
    ) -> WaiterID {
        let waiter = newWaiter(process)
        processes[process].requests.append(.init(waiter: waiter, kind: kind, since: now, session: session))
        return WaiterID(number: waiter)
    }

    /// Sends a request for something other than a token.
    mutating func ask(_ process: Int, for wanted: CallerRequest, _ kind: DeviceProcess.Request.Kind) {
        if case .refresh = kind { processes[process].retryAt = nil }
        send(process, .requested(wanted, add(kind, process)))
    }

    mutating func refuse(request index: Int, of process: Int) {
        guard case .carrying(let token) = processes[process].requests[index].phase else { return }
        processes[process].requests[index].phase = .refused(token)
    }

    mutating func replaceToken(of index: Int, _ process: Int, isInvalid: Bool) {
        let request = processes[process].requests[index]
        guard case .refused(let token) = request.phase else { return }
        let endpoint = request.endpoint == 2 ? nil : "e\(request.endpoint)"
        askAgain(
            process, index,
            with: TokenRefusal(of: token, endpoint: endpoint, saysTokenIsInvalid: isInvalid, status: 401))
    }

    mutating func cancel(request index: Int, of process: Int) {
        let waiter = processes[process].requests[index].waiter
        send(process, .waiterCancelled(WaiterID(number: waiter)))
        for left in processes[process].requests where left.waiter == waiter && left.isWaiting {
            fail(.leaving, "p\(process + 1) #\(waiter) still waits after its cancellation")
        }
    }

    mutating func askAgain(_ process: Int, _ index: Int, with refusal: TokenRefusal) {
        let waiter = newWaiter(process)
        processes[process].requests[index].waiter = waiter
        processes[process].requests[index].kind = .replacement(of: refusal.token)
        processes[process].requests[index].phase = .waiting
        processes[process].requests[index].since = now
        processes[process].requests[index].retries += 1
        if let bundle = processes[process].current?.bundle, bundle.accessToken == refusal.token.value {
            processes[process].notes.complained = bundle
            if refusal.saysTokenIsInvalid { processes[process].notes.invalid = bundle.mark }
        }
        send(process, .requested(.replacement(refusal), WaiterID(number: waiter)))
    }

    /// The time before each sign-in and sign-out, in milliseconds: no rounding makes two ordinals equal.
    private static let actPause = 2

    /// `isBlind`: neither the store nor the journal can be read before.
    mutating func signIn(_ process: Int, as user: String, isBlind: Bool) {
        moveTime(to: now + Self.actPause)
        if !isBlind { readOrder(process) }
        let grant = server.signIn(user, at: now)
        let session = server.session(server.grants[grant].family)
        noteRevocable(process, processes[process].current?.bundle.session)
        let waiter = add(.signIn, process)
        processes[process].notes.received = (grant, now)
        processes[process].notes.excused = nil
        // A caller that waits for the state gets it when the sign-in is stored.
        for index in processes[process].requests.indices
        where [.restore, .refresh].contains(processes[process].requests[index].kind) {
            processes[process].requests[index].since = now
        }
        let tokens = TokenRefreshResult(grant: grant, of: server, serverDate: serverDate)
        send(process, .signIn(tokens, session, waiter))
    }

    /// Whether the user of a session can step up: the session is known to be the user's, and does not end now.
    func canStepUp(_ process: Int) -> Bool {
        guard plan.traits.contains(.stepUps), plan.server.givesRefreshTokens, processes[process].runs,
            let bundle = processes[process].current?.bundle
        else { return false }
        let mayEnd = processes[process].jobs.contains {
            if case .write(_, .tombstone) = $0.kind { true } else { false }
        }
        if case .tombstone? = processes[process].machine.value.unsavedContent { return false }
        return !mayEnd && bundle.subject != nil && processes[process].published == .signedIn(bundle.session)
    }

    mutating func stepUp(_ process: Int) {
        guard let session = processes[process].current?.bundle.session else { return }
        let grant = server.stepUp(Int(named: session.rawValue), at: now)
        let waiter = add(.signIn, process)
        processes[process].notes.received = (grant, now)
        var tokens = TokenRefreshResult(grant: grant, of: server, serverDate: serverDate)
        tokens.refreshToken = "r\(grant)"
        send(process, .stepUp(tokens, session, waiter))
    }

    mutating func signOut(_ process: Int, as reason: SignOutReason, isBlind: Bool) {
        moveTime(to: now + Self.actPause)
        if !isBlind, processes[process].published == .unknown { readOrder(process) }
        let session = processes[process].current?.bundle.session
        noteRevocable(process, session)
        let waiter = add(.signOut, process, of: session)
        if let session {
            processes[process].notes.signedOut.insert(session)
            // The end of a sign-in that was not stored yet is not published.
            processes[process].notes.endedAt = server.families.count
            server[session].isLoggedOut = true
        }
        send(process, .signOut(reason, waiter))
        guard case .tombstone(_, _, let scope)? = processes[process].machine.value.unsavedContent else { return }
        for family in server.families(upTo: scope.ordinal) { server.families[family].isLoggedOut = true }
    }

    mutating func fire(_ process: Int, timer index: Int) {
        let timer = processes[process].timers.remove(at: index).timer
        switch timer {
        case .deadline(let id):
            for index in 0..<calls.count where calls[index].attempt == id && calls[index].process == process {
                calls[index].isOverdue = true
            }
            excuse(process)
        case .writeDeadline: excuse(process)
        default: break
        }
        send(process, .timerFired(timer))
    }

    /// The store has failed, or took too long: what waits for it may be used.
    mutating func excuse(_ process: Int) { processes[process].notes.excused = processes[process].newest }
}
