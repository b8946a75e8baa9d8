import AuthInterface
import Foundation

@testable import TokenRefresh

/// The end of a world: all pending work is completed, and the result must be in order.
extension World {
    /// Removes all faults, completes all work, fires all timers, and checks the result.
    mutating func comeToRest() {
        if isTraced { note("the world comes to rest") }
        isDraining = true
        store.condition = .works
        isServerDown = false
        refusesEverything = false
        for process in 0..<processes.count { _ = resume(process) }
        goOnToTheEnd()
        if violation == nil { checkRest() }
        if violation == nil { checkService() }
    }

    /// Completes all work until none is left.
    mutating func goOnToTheEnd() {
        var rounds = 0
        while violation == nil, doAll() || fireNext() {
            rounds += 1
            if rounds > 2_000 { return fail(.rest, "still moving after \(rounds) rounds") }
        }
    }

    /// Completes the pending work of the store and the server.
    private mutating func doAll() -> Bool {
        var draws = RandomDraws(plan.seed)
        var moved = false
        var isMoving = true
        var rounds = 0
        while isMoving, violation == nil {
            isMoving = false
            for index in (0..<calls.count).reversed() where work(on: index, &draws) { isMoving = true }
            for process in 0..<processes.count where processes[process].runs {
                if report(process) { isMoving = true }
                for index in (0..<processes[process].jobs.count).reversed()
                where index < processes[process].jobs.count && work(on: index, of: process, &draws) {
                    isMoving = true
                }
            }
            if isMoving { moved = true }
            rounds += 1
            if rounds > 10_000 {
                fail(.rest, "the same goes on and on")
                return false
            }
        }
        return moved
    }

    private mutating func fireNext() -> Bool {
        guard let next = nextTimer else { return waitForLease() }
        moveTime(to: next)
        for process in 0..<processes.count where processes[process].isAlive {
            for index in 0..<processes[process].timers.count where processes[process].timers[index].at <= next {
                fire(process, timer: index)
                return true
            }
        }
        return false
    }

    /// Lets the time pass after which a lease is given, or is not.
    private mutating func waitForLease() -> Bool {
        for process in processes where process.isAlive {
            for job in process.jobs {
                guard case .lease = job.kind else { continue }
                moveTime(to: now + 1_000)
                return true
            }
        }
        return false
    }

    private mutating func checkRest() {
        for process in 0..<processes.count where processes[process].isAlive {
            for request in processes[process].requests where request.isWaiting {
                fail(.responses, "p\(process + 1) #\(request.waiter) is left waiting")
            }
            checkRest(process)
        }
    }

    /// G11, G12: the store holds the newest bundle of the session in use, or nothing after its end.
    private mutating func checkRest(_ process: Int) {
        if let stored = store.content.bundle, processes[process].notes.left.contains(stored.session),
            !server.families[Int(named: stored.session.rawValue)].isDamaged
        {
            fail(.revival, "p\(process + 1) has left \(stored.session.rawValue), and the store holds it")
        }
        guard let bundle = processes[process].current?.bundle else { return }
        let family = server.families[Int(named: bundle.session.rawValue)]
        guard !family.isRetired, !family.isDamaged else { return }
        guard let stored = store.content.bundle, stored.session == bundle.session else {
            return fail(.newest, "p\(process + 1) has \(bundle.traceText), the store \(store.content.traceText)")
        }
        if stored.generation < bundle.generation
            || (stored.generation == bundle.generation && (stored.refreshToken ?? "") != (bundle.refreshToken ?? ""))
        {
            fail(.newest, "p\(process + 1) has \(bundle.traceText), the store \(stored.traceText)")
        }
    }
}
