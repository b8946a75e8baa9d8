import AuthInterface
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
        guard deed < 180 else { return strike(process, &dice) }
        guard processes[process].isAlive else { return deed < 20 && restart(process) }
        switch deed {
        case ..<30: return ask(process, &dice)
        case ..<72: return goOn(process, &dice)
        case ..<74: return leave(process, &dice)
        case ..<112: return workOnStore(process)
        case ..<134: return workOnCalls(&dice)
        case ..<148: return ring(process, &dice)
        case ..<168: return pass(dice.of([1, 5, 20, 200, 1_000]))
        case ..<176: return passLong(&dice)
        case ..<179: return noteDate(process)
        default: return restore(process)
        }
    }

    /// What goes wrong, and what users do; how often depends on the plan's mood.
    private mutating func strike(_ process: Int, _ dice: inout Dice) -> Bool {
        let mood = plan.mood
        switch dice.pick(20) {
        case ..<5: return dice.chance(mood.userMoves) && signIn(process, &dice)
        case ..<8: return dice.chance(mood.userMoves) && signOut(process)
        case ..<10: return dice.chance(mood.crashes) && crash(process)
        case ..<11: return dice.chance(mood.clockJumps) && setClock(&dice)
        case ..<15: return changeStoreWeather(&dice)
        default: return changeServerWeather(&dice)
        }
    }

    // MARK: Requests and users

    private mutating func ask(_ process: Int, _ dice: inout Dice) -> Bool {
        guard processes[process].requests.count < 5 else { return false }
        if case .signedOut = processes[process].machine.standing {
            if dice.chance(40) { return signIn(process, &dice) }
            // Somebody opens the app again.
            if store.content != nil, dice.chance(40) { return crash(process) }
        }
        var request = DeviceProcess.Request(waiter: newWaiter(), kind: .token, since: now)
        let session = processes[process].machine.session?.bundle.session
        if let token = processes[process].machine.readyToken(at: instant.uptime) {
            request.phase = .carrying(token)
            request.session = token.session
            processes[process].requests.append(request)
            if isTraced { note("p\(process + 1) #\(request.waiter) has \(token.story) at once") }
            judgeToken(process, token, from: session)
            judgeLeeway(process, token)
        } else {
            request.session = session
            processes[process].requests.append(request)
            tell(process, .tokenAsked(WaiterID(number: request.waiter)))
        }
        return true
    }

    /// A request is answered by the resource server, or asks for a replacement of its token.
    private mutating func goOn(_ process: Int, _ dice: inout Dice) -> Bool {
        let count = processes[process].requests.count
        guard count > 0 else { return false }
        let index = dice.pick(count)
        switch processes[process].requests[index].phase {
        case .waiting:
            return false
        case .carrying(let token):
            let isTaken = !refusesEverything && server.takes(Int(named: token.value), at: now)
            let isOver = isTaken || processes[process].requests[index].retries > 0
            let waiter = processes[process].requests[index].waiter
            if isTraced { note("p\(process + 1) #\(waiter): \(isTaken ? "served" : "refused")") }
            if isOver {
                processes[process].requests.remove(at: index)
            } else {
                processes[process].requests[index].phase = .refused(token)
            }
        case .refused(let token):
            let waiter = newWaiter()
            processes[process].requests[index].waiter = waiter
            processes[process].requests[index].kind = .replacement(of: token)
            processes[process].requests[index].phase = .waiting
            processes[process].requests[index].since = now
            processes[process].requests[index].order = events
            processes[process].requests[index].retries += 1
            complained(process, token)
            tell(process, .tokenRefused(token, WaiterID(number: waiter)))
        }
        return true
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
        guard processes[process].isAlive, plan.sharing != .unguarded || isEmpty else { return false }
        let user = dice.of(["ada", "bob"])
        let grant = server.signIn(user, process: process, at: now)
        let session = SessionID(rawValue: "\(user)\(server.grants[grant].family)")
        let request = DeviceProcess.Request(waiter: newWaiter(), kind: .signIn, since: now)
        processes[process].requests.append(request)
        processes[process].notes.received = (.init(session: session, generation: 0), now, saidLifetime)
        noteReceipt(process, grant)
        processes[process].notes.excused = nil
        // Who waits for the state is told it when the login is stored.
        for index in 0..<processes[process].requests.count { processes[process].requests[index].restart(at: now) }
        if let replaced = store.content?.session { processes[process].notes.left.insert(replaced) }
        let tokens = TokenRefreshResult(grant: grant, of: server, serverDate: serverDate)
        tell(process, .signIn(tokens, session, WaiterID(number: request.waiter)))
        return true
    }

    /// Nobody is signed in anywhere. Without a lease, two logins at once have no order that could be judged.
    private var isEmpty: Bool {
        for process in processes where process.isAlive && process.machine.session != nil { return false }
        return store.content == nil
    }

    private mutating func signOut(_ process: Int) -> Bool {
        guard processes[process].isAlive else { return false }
        let request = DeviceProcess.Request(waiter: newWaiter(), kind: .signOut, since: now)
        processes[process].requests.append(request)
        let session = processes[process].machine.session?.bundle.session
        if processes[process].machine.standing != .signedOut(.byUser) {
            processes[process].notes.ended = (session, .max)
        }
        if let session {
            server.noteLoggedOut(family: Int(named: session.rawValue))
        }
        tell(process, .signOut(WaiterID(number: request.waiter)))
        return true
    }

    private mutating func restore(_ process: Int) -> Bool {
        let request = DeviceProcess.Request(waiter: newWaiter(), kind: .restore, since: now)
        processes[process].requests.append(request)
        tell(process, .restoreAsked(WaiterID(number: request.waiter)))
        return true
    }

    // MARK: Processes

    private mutating func crash(_ process: Int) -> Bool {
        guard processes[process].isAlive else { return false }
        if isTraced { note("p\(process + 1) is killed") }
        processes[process].isAlive = false
        if store.holder == process { store.holder = nil }
        for index in 0..<calls.count where calls[index].process == process { calls[index].isOrphan = true }
        server.noteCrash(of: process)
        return true
    }

    private mutating func restart(_ process: Int) -> Bool {
        if isTraced { note("p\(process + 1) starts again") }
        processes[process] = newProcess()
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
        case .cooldown, .storeRetry, .reload, .loadDeadline: break
        }
        tell(process, .timerFired(timer))
    }

    /// The store has failed, or took too long: what waits for it may be used.
    mutating func excuse(_ process: Int) {
        processes[process].notes.excused = processes[process].machine.newestBundle?.mark
    }
}
