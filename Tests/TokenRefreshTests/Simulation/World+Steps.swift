import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import TokenRefresh

/// What can happen next.
extension World {
    /// Takes a step.
    ///
    /// - Returns: Whether the chosen step was possible. If not, nothing has happened.
    mutating func step(_ draw: UInt64) -> Bool {
        var draws = RandomDraws(draw)
        let process = draws.pick(processes.count)
        let choice = draws.pick(200)
        guard choice < 176 else { return injectFault(process, &draws) }
        guard processes[process].isAlive else { return choice < 20 && restart(process) }
        guard processes[process].runs else {
            return choice < 20 ? resume(process) : choice < 120 ? workOnCalls(&draws) : passes(choice, &draws)
        }
        switch choice {
        case ..<30: return ask(process, &draws)
        case ..<70: return goOn(process, &draws)
        case ..<72: return leave(process, &draws)
        case ..<108: return workOnStore(process, &draws)
        case ..<128: return workOnCalls(&draws)
        case ..<142: return fire(process, &draws)
        case ..<168: return passes(choice, &draws)
        case ..<170: return noteDate(process)
        case ..<172: return report(process)
        case ..<173: return ask(process, for: .restore, .restore)
        case ..<175: return ask(process, for: .refresh, .refresh)
        default: return ask(process, for: .settle, .settle)
        }
    }

    private mutating func passes(_ choice: Int, _ draws: inout RandomDraws) -> Bool {
        choice < 160 ? pass(draws.of([1, 5, 20, 200, 1_000])) : passLong(&draws)
    }

    /// Faults, and actions of users; their rates are in the plan.
    private mutating func injectFault(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        let rates = plan.rates
        switch draws.pick(25) {
        case ..<5: return draws.chance(rates.userMoves) && signIn(process, &draws)
        case ..<8: return draws.chance(rates.userMoves) && signOut(process, &draws)
        case ..<10: return draws.chance(rates.crashes) && crash(process)
        case ..<11: return draws.chance(rates.clockJumps) && setClock(&draws)
        case ..<13: return draws.chance(rates.suspensions) && suspend(process, &draws)
        case ..<14: return draws.chance(rates.cuts) && cut()
        case ..<18: return changeStoreCondition(process, &draws)
        case ..<19: return draws.chance(rates.moves) && move(&draws)
        default: return changeServerCondition(&draws)
        }
    }

    // MARK: Requests and users

    private mutating func ask(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        guard processes[process].requests.count < 5 else { return false }
        if case .signedOut = processes[process].published, processes[process].current == nil {
            if draws.chance(40) { return signIn(process, &draws) }
            // The user opens the app again.
            if store.content.bundle != nil, draws.chance(40) { return crash(process) }
        }
        sendRequest(process, endpoint: draws.pick(3))
        return true
    }

    /// A request gets its token, or waits for one.
    mutating func sendRequest(_ process: Int, endpoint: Int) {
        var request = DeviceProcess.Request(waiter: newWaiter(process), kind: .token, since: now, order: events)
        request.endpoint = endpoint
        let session = processes[process].current?.bundle.session
        if let token = processes[process].machine.readyToken(at: instant.uptime) {
            request.phase = .carrying(token)
            request.session = token.session
            request.handedAt = events
            processes[process].requests.append(request)
            if isTraced { note("p\(process + 1) #\(request.waiter) has \(token.traceText) at once") }
            checkToken(process, token, from: session)
            checkLeeway(process, token)
        } else {
            request.session = session
            processes[process].requests.append(request)
            send(process, .requested(.token, WaiterID(number: request.waiter)))
        }
    }

    /// Sends a request for something other than a token.
    mutating func ask(_ process: Int, for wanted: CallerRequest, _ kind: DeviceProcess.Request.Kind) -> Bool {
        guard processes[process].requests.count < 8 else { return false }
        let request = DeviceProcess.Request(waiter: newWaiter(process), kind: kind, since: now, order: events)
        processes[process].requests.append(request)
        send(process, .requested(wanted, WaiterID(number: request.waiter)))
        return true
    }

    /// A request is served or refused by the resource server, or requests a replacement of its token.
    private mutating func goOn(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        let count = processes[process].requests.count
        guard count > 0 else { return false }
        let index = draws.pick(count)
        let request = processes[process].requests[index]
        switch request.phase {
        case .waiting:
            return false
        case .carrying(let token):
            let isBroken = refusesEverything || (plan.server.hasBrokenEndpoint && request.endpoint == 0)
            let isTaken = !isBroken && server.takes(Int(named: token.value), at: now)
            if isTraced { note("p\(process + 1) #\(request.waiter): \(isTaken ? "served" : "refused")") }
            if isTaken || request.retries > 1 {
                processes[process].requests.remove(at: index)
            } else {
                processes[process].requests[index].phase = .refused(token)
            }
        case .refused(let token):
            askAgain(process, index, with: refusal(of: token, by: request.endpoint, &draws))
        }
        return true
    }

    private func refusal(of token: SessionToken, by endpoint: Int, _ draws: inout RandomDraws) -> TokenRefusal {
        let isInvalid = !server.takes(Int(named: token.value), at: now)
        return TokenRefusal(
            of: token,
            endpoint: endpoint == 2 ? nil : "e\(endpoint)",
            saysTokenIsInvalid: isInvalid && draws.chance(50),
            status: 401
        )
    }

    /// A refused request requests a replacement of its token.
    mutating func askAgain(_ process: Int, _ index: Int, with refusal: TokenRefusal) {
        let waiter = newWaiter(process)
        processes[process].requests[index].waiter = waiter
        processes[process].requests[index].kind = .replacement(of: refusal.token)
        processes[process].requests[index].phase = .waiting
        processes[process].requests[index].since = now
        processes[process].requests[index].retries += 1
        if processes[process].current?.bundle.mark == refusal.token.mark {
            processes[process].notes.complained = refusal.token.mark
        }
        processes[process].requests[index].order = events
        noteRefusal(process, index, refusal.token)
        send(process, .requested(.replacement(refusal), WaiterID(number: waiter)))
    }

    private mutating func leave(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        let count = processes[process].requests.count
        guard count > 0 else { return false }
        let request = processes[process].requests[draws.pick(count)]
        guard request.isWaiting else { return false }
        send(process, .waiterCancelled(WaiterID(number: request.waiter)))
        for left in processes[process].requests where left.waiter == request.waiter {
            fail(.leaving, "p\(process + 1) #\(request.waiter) still waits after its cancellation")
        }
        return true
    }

    private mutating func signIn(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        guard processes[process].runs else { return false }
        // No two sign-ins begin at the same instant.
        moveTime(to: now + 1)
        signIn(process, as: draws.of(["ada", "bob"]))
        return true
    }

    mutating func signIn(_ process: Int, as user: String) {
        let grant = server.signIn(user, process: process, at: now)
        let session = SessionID(rawValue: "\(user)\(server.grants[grant].family)")
        let request = DeviceProcess.Request(waiter: newWaiter(process), kind: .signIn, since: now, order: events)
        noteRevocable(process, processes[process].current?.bundle.session)
        processes[process].requests.append(request)
        let mark = Mark(session: session, generation: 0)
        processes[process].notes.received = Receipt(
            mark: mark, grant: grant, at: now, since: now, lifetime: saidLifetime)
        noteReceipt(process, grant, since: now)
        processes[process].notes.excused = nil
        processes[process].notes.wish = nil
        // A caller that waits for the state gets it when the sign-in is stored.
        for index in 0..<processes[process].requests.count { processes[process].requests[index].restart(at: now) }
        let tokens = TokenRefreshResult(grant: grant, of: server, serverDate: serverDate)
        send(process, .signIn(tokens, session, WaiterID(number: request.waiter)))
    }

    private mutating func signOut(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        guard processes[process].runs else { return false }
        signOut(process, as: draws.chance(70) ? .byUser : .application("account disabled"))
        return true
    }

    mutating func signOut(_ process: Int, as reason: SignOutReason) {
        var request = DeviceProcess.Request(waiter: newWaiter(process), kind: .signOut, since: now, order: events)
        let session = processes[process].current?.bundle.session
        request.session = session
        noteRevocable(process, session)
        processes[process].requests.append(request)
        processes[process].notes.ended = (session, .max)
        if let session {
            processes[process].notes.signedOut.insert(session)
            server.noteLoggedOut(family: Int(named: session.rawValue))
        } else if processes[process].published == .unknown {
            processes[process].notes.wish = processes[process].notes.wish ?? server.families.count
            if let stored = store.content.bundle?.session { server.noteLoggedOut(family: Int(named: stored.rawValue)) }
        }
        send(process, .signOut(reason, WaiterID(number: request.waiter)))
    }

    // MARK: Timers

    private mutating func fire(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        var due: [Int] = []
        for index in 0..<processes[process].timers.count where processes[process].timers[index].at <= now {
            due.append(index)
        }
        guard !due.isEmpty else { return false }
        fire(process, timer: draws.of(due))
        return true
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
        case .loadDeadline: processes[process].notes.storeFailedAt = now
        default: break
        }
        send(process, .timerFired(timer))
    }

    /// The store has failed, or took too long: what waits for it may be used.
    mutating func excuse(_ process: Int) {
        processes[process].notes.excused = processes[process].newest?.mark
        processes[process].notes.storeFailedAt = now
    }
}
