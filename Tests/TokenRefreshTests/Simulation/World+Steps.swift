import AuthInterface

@testable import TokenRefresh

/// What happens next, by chance.
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

    private mutating func signOut(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        guard processes[process].runs else { return false }
        signOut(process, as: draws.chance(70) ? .byUser : .application("account disabled"))
        return true
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
}
