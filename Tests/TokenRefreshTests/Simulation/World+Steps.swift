import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import TokenRefresh

/// What can happen next.
extension World {
    /// Takes a step.
    ///
    /// - Returns: Whether what the die chose could happen. If not, nothing has.
    mutating func step(_ die: UInt64) -> Bool {
        var dice = Dice(die)
        let process = dice.pick(processes.count)
        let deed = dice.pick(200)
        guard deed < 176 else { return strike(process, &dice) }
        guard processes[process].isAlive else { return deed < 20 && restart(process) }
        guard processes[process].runs else {
            return deed < 20 ? thaw(process) : deed < 120 ? workOnCalls(&dice) : passes(deed, &dice)
        }
        switch deed {
        case ..<30: return ask(process, &dice)
        case ..<70: return goOn(process, &dice)
        case ..<72: return leave(process, &dice)
        case ..<108: return workOnStore(process, &dice)
        case ..<128: return workOnCalls(&dice)
        case ..<142: return ring(process, &dice)
        case ..<168: return passes(deed, &dice)
        case ..<170: return noteDate(process)
        case ..<172: return report(process)
        case ..<173: return ask(process, for: .restore, .restore)
        case ..<175: return ask(process, for: .refresh, .refresh)
        default: return ask(process, for: .settle, .settle)
        }
    }

    private mutating func passes(_ deed: Int, _ dice: inout Dice) -> Bool {
        deed < 160 ? pass(dice.of([1, 5, 20, 200, 1_000])) : passLong(&dice)
    }

    /// What goes wrong, and what users do; how often depends on the plan's mood.
    private mutating func strike(_ process: Int, _ dice: inout Dice) -> Bool {
        let mood = plan.mood
        switch dice.pick(24) {
        case ..<5: return dice.chance(mood.userMoves) && signIn(process, &dice)
        case ..<8: return dice.chance(mood.userMoves) && signOut(process, &dice)
        case ..<10: return dice.chance(mood.crashes) && crash(process)
        case ..<11: return dice.chance(mood.clockJumps) && setClock(&dice)
        case ..<13: return dice.chance(mood.suspensions) && suspend(process, &dice)
        case ..<14: return dice.chance(mood.cuts) && cut()
        case ..<18: return changeStoreWeather(&dice)
        default: return changeServerWeather(&dice)
        }
    }

    // MARK: Requests and users

    private mutating func ask(_ process: Int, _ dice: inout Dice) -> Bool {
        guard processes[process].requests.count < 5 else { return false }
        if case .signedOut = processes[process].published, processes[process].current == nil {
            if dice.chance(40) { return signIn(process, &dice) }
            // The user opens the app again.
            if store.content.bundle != nil, dice.chance(40) { return crash(process) }
        }
        var request = DeviceProcess.Request(waiter: newWaiter(), kind: .token, since: now, order: events)
        request.endpoint = dice.pick(3)
        let session = processes[process].current?.bundle.session
        if let token = processes[process].machine.readyToken(at: instant.uptime) {
            request.phase = .carrying(token)
            request.session = token.session
            request.handedAt = events
            processes[process].requests.append(request)
            if isTraced { note("p\(process + 1) #\(request.waiter) has \(token.story) at once") }
            judgeToken(process, token, from: session)
            judgeLeeway(process, token)
        } else {
            request.session = session
            processes[process].requests.append(request)
            tell(process, .asked(.token, WaiterID(number: request.waiter)))
        }
        return true
    }

    /// Asks for something that is no token.
    mutating func ask(_ process: Int, for wish: Wish, _ kind: DeviceProcess.Request.Kind) -> Bool {
        guard processes[process].requests.count < 8 else { return false }
        let request = DeviceProcess.Request(waiter: newWaiter(), kind: kind, since: now, order: events)
        processes[process].requests.append(request)
        tell(process, .asked(wish, WaiterID(number: request.waiter)))
        return true
    }

    /// A request is answered by the resource server, or asks for a replacement of its token.
    private mutating func goOn(_ process: Int, _ dice: inout Dice) -> Bool {
        let count = processes[process].requests.count
        guard count > 0 else { return false }
        let index = dice.pick(count)
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
            askAgain(process, index, with: refusal(of: token, by: request.endpoint, &dice))
        }
        return true
    }

    private func refusal(of token: SessionToken, by endpoint: Int, _ dice: inout Dice) -> TokenRefusal {
        let isInvalid = !server.takes(Int(named: token.value), at: now)
        return TokenRefusal(
            of: token,
            endpoint: endpoint == 2 ? nil : "e\(endpoint)",
            saysTokenIsInvalid: isInvalid && dice.chance(50),
            status: 401
        )
    }

    /// A refused request asks for a replacement of its token.
    mutating func askAgain(_ process: Int, _ index: Int, with refusal: TokenRefusal) {
        let waiter = newWaiter()
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
        tell(process, .asked(.replacement(refusal), WaiterID(number: waiter)))
    }

    private mutating func leave(_ process: Int, _ dice: inout Dice) -> Bool {
        let count = processes[process].requests.count
        guard count > 0 else { return false }
        let request = processes[process].requests[dice.pick(count)]
        guard request.isWaiting else { return false }
        tell(process, .waiterCancelled(WaiterID(number: request.waiter)))
        for left in processes[process].requests where left.waiter == request.waiter {
            fail(.leaving, "p\(process + 1) #\(request.waiter) still waits after its cancellation")
        }
        return true
    }

    private mutating func signIn(_ process: Int, _ dice: inout Dice) -> Bool {
        guard processes[process].runs else { return false }
        let user = dice.of(["ada", "bob"])
        let grant = server.signIn(user, process: process, at: now)
        let session = SessionID(rawValue: "\(user)\(server.grants[grant].family)")
        let request = DeviceProcess.Request(waiter: newWaiter(), kind: .signIn, since: now, order: events)
        processes[process].requests.append(request)
        processes[process].notes.received = (.init(session: session, generation: 0), grant, now, saidLifetime)
        noteReceipt(process, grant)
        processes[process].notes.excused = nil
        // A caller who waits for the state is told it when the sign-in is stored.
        for index in 0..<processes[process].requests.count { processes[process].requests[index].restart(at: now) }
        let tokens = TokenRefreshResult(grant: grant, of: server, serverDate: serverDate)
        tell(process, .signIn(tokens, session, WaiterID(number: request.waiter)))
        return true
    }

    private mutating func signOut(_ process: Int, _ dice: inout Dice) -> Bool {
        guard processes[process].runs else { return false }
        let request = DeviceProcess.Request(waiter: newWaiter(), kind: .signOut, since: now, order: events)
        processes[process].requests.append(request)
        let session = processes[process].current?.bundle.session
        processes[process].notes.ended = (session, .max)
        if let session {
            server.noteLoggedOut(family: Int(named: session.rawValue))
        } else if processes[process].published == .unknown, let stored = store.content.bundle?.session {
            server.noteLoggedOut(family: Int(named: stored.rawValue))
        }
        let reason = dice.chance(70) ? SignOutReason.byUser : .application("account disabled")
        tell(process, .signOut(reason, WaiterID(number: request.waiter)))
        return true
    }

    // MARK: Alarms

    private mutating func ring(_ process: Int, _ dice: inout Dice) -> Bool {
        var due: [Int] = []
        for index in 0..<processes[process].alarms.count where processes[process].alarms[index].at <= now {
            due.append(index)
        }
        guard !due.isEmpty else { return false }
        ring(process, alarm: dice.of(due))
        return true
    }

    mutating func ring(_ process: Int, alarm: Int) {
        let timer = processes[process].alarms.remove(at: alarm).timer
        switch timer {
        case .deadline(let id):
            for index in 0..<calls.count where calls[index].attempt == id && calls[index].process == process {
                calls[index].isOverdue = true
            }
            excuse(process)
        case .writeDeadline: excuse(process)
        default: break
        }
        tell(process, .timerFired(timer))
    }

    /// The store has failed, or took too long: what waits for it may be used.
    mutating func excuse(_ process: Int) {
        processes[process].notes.excused = processes[process].newest?.mark
    }
}
