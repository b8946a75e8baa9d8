import AuthInterface
import Foundation

@testable import TokenRefresh

/// The end of a world: everything that waits is let go on, and what is left must be in order.
extension World {
    /// Opens every gate, rings every alarm, and looks at what remains.
    mutating func comeToRest() {
        if isTraced { note("the world comes to rest") }
        isDraining = true
        store.weather = .works
        isServerDown = false
        refusesEverything = false
        var rounds = 0
        while violation == nil, doAll() || ringNext() {
            rounds += 1
            if rounds > 2_000 { return fail(.rest, "still moving after \(rounds) rounds") }
        }
        if violation == nil { judgeRest() }
        if violation == nil { judgeService() }
    }

    /// Lets the store and the server do all they were asked for.
    mutating func doAll() -> Bool {
        var dice = Dice(plan.seed)
        var moved = false
        var isMoving = true
        while isMoving, violation == nil {
            isMoving = workOnCalls(&dice)
            for process in 0..<processes.count where processes[process].isAlive {
                if workOnStore(process) { isMoving = true }
            }
            if isMoving { moved = true }
        }
        return moved
    }

    mutating func ringNext() -> Bool {
        guard let next = nextAlarm else { return false }
        moveTime(to: next)
        for process in 0..<processes.count where processes[process].isAlive {
            for alarm in 0..<processes[process].alarms.count where processes[process].alarms[alarm].at <= next {
                ring(process, alarm: alarm)
                return true
            }
        }
        return false
    }

    private mutating func judgeRest() {
        for process in 0..<processes.count where processes[process].isAlive {
            for request in processes[process].requests where request.isWaiting {
                fail(.answers, "p\(process + 1) #\(request.waiter) is left waiting", wayOfEmptyTokens)
            }
            if plan.sharing != .unguarded { judgeRest(process) }
        }
    }

    /// G11, G12: the store holds the newest bundle of the session in use, or nothing after its end.
    private mutating func judgeRest(_ process: Int) {
        for session in processes[process].notes.left where store.content?.session == session {
            fail(.revival, "p\(process + 1) has left \(session.rawValue), and the store holds it")
        }
        guard let bundle = processes[process].machine.session?.bundle else { return }
        let family = server.families[Int(named: bundle.session.rawValue)]
        guard !family.isRetired else { return }
        guard let stored = store.content, stored.session == bundle.session else {
            return fail(.newest, "p\(process + 1) has \(bundle.story), the store \(store.content?.story ?? "nothing")")
        }
        if stored.generation < bundle.generation
            || (stored.generation == bundle.generation && (stored.refreshToken ?? "") != (bundle.refreshToken ?? ""))
        {
            fail(.newest, "p\(process + 1) has \(bundle.story), the store \(stored.story)")
        }
    }
}
