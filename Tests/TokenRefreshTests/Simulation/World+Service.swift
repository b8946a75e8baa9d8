import AuthInterface

@testable import TokenRefresh

/// What remains when a world is at rest, and whether it works.
extension World {
    /// The time after which no failure of the past delays a refresh, in milliseconds.
    private static let longestPause = 400_000

    mutating func judgeService() {
        for process in 0..<processes.count where processes[process].isAlive && violation == nil {
            judgeLeftovers(process)
        }
        moveTime(to: now + Self.longestPause)
        for process in 0..<processes.count where processes[process].isAlive && violation == nil {
            judgeService(process)
        }
    }

    /// A session that the server honours gets a token that the resource server takes.
    private mutating func judgeService(_ process: Int) {
        for _ in 0..<4 {
            if isServed(process) || violation != nil { return }
            moveTime(to: now + 10_000)
        }
        let machine = processes[process].machine
        if case .signedOut = machine.standing { return }
        guard let bundle = machine.newestBundle ?? store.content, plan.server.givesRefreshTokens else { return }
        let family = Int(named: bundle.session.rawValue)
        let isHeld = bundle.refreshToken.map { !$0.isEmpty && server.honours(Int(named: $0)) } ?? false
        if isHeld || server.isAlive(family) {
            fail(.service, "p\(process + 1) gets no token for \(bundle.story)")
        }
    }

    /// Sends a request, and once more if its token is refused.
    private mutating func isServed(_ process: Int) -> Bool {
        let waiter = newWaiter()
        let session = processes[process].machine.session?.bundle.session
        var request = DeviceProcess.Request(waiter: waiter, kind: .token, since: now, order: events)
        request.session = session
        processes[process].requests.append(request)
        tell(process, .tokenAsked(WaiterID(number: waiter)))
        guard let token = tokenInTheEnd(process, waiter) else { return false }
        if server.takes(Int(named: token.value), at: now) { return true }
        let second = newWaiter()
        request = DeviceProcess.Request(waiter: second, kind: .replacement(of: token), since: now, order: events)
        request.session = token.session
        processes[process].requests.append(request)
        complained(process, token)
        tell(process, .tokenRefused(token, WaiterID(number: second)))
        guard let better = tokenInTheEnd(process, second) else { return false }
        return server.takes(Int(named: better.value), at: now)
    }

    /// What a waiter is given when everything that waits has gone on.
    private mutating func tokenInTheEnd(_ process: Int, _ waiter: Int) -> SessionToken? {
        var rounds = 0
        while violation == nil, doAll() || ringNext() {
            rounds += 1
            if rounds > 2_000 {
                fail(.rest, "still moving after \(rounds) rounds")
                return nil
            }
        }
        for index in 0..<processes[process].requests.count
        where processes[process].requests[index].waiter == waiter {
            if case .carrying(let token) = processes[process].requests[index].phase {
                processes[process].requests.remove(at: index)
                return token
            }
            fail(.answers, "p\(process + 1) #\(waiter) is left waiting", wayOfEmptyTokens)
            return nil
        }
        return nil
    }

    /// What a machine keeps when nothing is under way.
    private mutating func judgeLeftovers(_ process: Int) {
        let machine = processes[process].machine
        let waiting =
            machine.waiting.count + machine.queue.count + machine.desk.waiters.count
            + machine.restoring.askers.count + machine.restoring.restorers.count
        if waiting > 0 { fail(.growth, "p\(process + 1) keeps \(waiting) waiters", wayOfEmptyTokens) }
        if let overdue = machine.session?.overdue.count, overdue > 0 {
            fail(.growth, "p\(process + 1) keeps \(overdue)", "overdue calls")
        }
        if machine.session?.attempt != nil { fail(.growth, "p\(process + 1) keeps", "an attempt") }
        if processes[process].held != nil { fail(.lease, "p\(process + 1) holds the lease") }
    }
}
