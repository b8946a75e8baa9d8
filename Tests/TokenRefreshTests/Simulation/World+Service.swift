import AuthInterface

@testable import TokenRefresh

/// The state of a world at rest, and whether it serves requests.
extension World {
    /// The time after which no failure of the past delays a refresh, in milliseconds.
    private static let longestPause = 400_000

    mutating func checkService() {
        for process in 0..<processes.count where processes[process].isAlive && violation == nil {
            checkLeftovers(process)
        }
        for process in 0..<processes.count where processes[process].isAlive && violation == nil {
            checkFollowing(process)
        }
        moveTime(to: now + Self.longestPause)
        for process in 0..<processes.count where processes[process].isAlive && violation == nil {
            checkService(process)
        }
    }

    /// A process that restores gets the state of the shared store.
    private mutating func checkFollowing(_ process: Int) {
        guard isShared else { return }
        _ = ask(process, for: .restore, .restore)
        goOnToTheEnd()
        let published = processes[process].published
        switch store.content {
        case .active(let stored) where published != .signedIn(stored.session):
            fail(.follows, "p\(process + 1) says \(published), the store holds \(stored.traceText)")
        case .ended, .empty:
            guard case .signedIn(let session) = published else { break }
            // A store that has lost its content does not say that the session has ended.
            if case .empty = store.content, server.families[Int(named: session.rawValue)].isDamaged { break }
            fail(.follows, "p\(process + 1) says \(published), the store \(store.content.traceText)")
        case .active: break
        }
    }

    /// A session that the server honours gets a token that the resource server takes.
    private mutating func checkService(_ process: Int) {
        for _ in 0..<4 {
            if isServed(process) || violation != nil { return }
            moveTime(to: now + 100_000)
        }
        if case .signedOut = processes[process].published { return }
        guard let bundle = processes[process].newest ?? store.content.bundle, plan.server.givesRefreshTokens else {
            return
        }
        let family = Int(named: bundle.session.rawValue)
        guard !server.families[family].isDamaged else { return }
        let isHeld = bundle.refreshToken.map { !$0.isEmpty && server.honours(Int(named: $0)) } ?? false
        if isHeld || server.isAlive(family) {
            fail(.service, "p\(process + 1) gets no token for \(bundle.traceText)")
        }
    }

    /// Sends a request, and once more if its token is refused.
    private mutating func isServed(_ process: Int) -> Bool {
        let waiter = newWaiter()
        var request = DeviceProcess.Request(waiter: waiter, kind: .token, since: now, order: events)
        request.session = processes[process].current?.bundle.session
        request.endpoint = 1
        processes[process].requests.append(request)
        send(process, .requested(.token, WaiterID(number: waiter)))
        goOnToTheEnd()
        guard let index = index(of: waiter, process),
            case .carrying(let token) = processes[process].requests[index].phase
        else { return false }
        if server.takes(Int(named: token.value), at: now) {
            processes[process].requests.remove(at: index)
            return true
        }
        askAgain(process, index, with: TokenRefusal(of: token, endpoint: "e1", status: 401))
        let second = waiters
        goOnToTheEnd()
        guard let index = self.index(of: second, process),
            case .carrying(let better) = processes[process].requests[index].phase
        else { return false }
        processes[process].requests.remove(at: index)
        return server.takes(Int(named: better.value), at: now)
    }

    /// The place of a request that has been given a token; one that still waits breaks a law.
    private mutating func index(of waiter: Int, _ process: Int) -> Int? {
        guard let index = processes[process].requests.firstIndex(where: { $0.waiter == waiter }) else { return nil }
        if processes[process].requests[index].isWaiting {
            fail(.responses, "p\(process + 1) #\(waiter) is left waiting")
            return nil
        }
        return index
    }

    /// What a machine keeps when nothing is under way.
    private mutating func checkLeftovers(_ process: Int) {
        let status = processes[process].machine.status
        if status.isRefreshing { fail(.growth, "p\(process + 1) keeps", "a refresh") }
        for call in calls where call.process == process && !call.isOrphan && !call.isCancelled {
            fail(.growth, "p\(process + 1) keeps", "a call")
        }
        if !processes[process].jobs.isEmpty { fail(.growth, "p\(process + 1) keeps", "work for the store") }
        if !processes[process].timers.isEmpty { fail(.growth, "p\(process + 1) keeps", "timers") }
        if store.lease?.owner == processes[process].owner || !processes[process].leases.isEmpty {
            fail(.lease, "p\(process + 1) holds the lease")
        }
        guard processes[process].published != .unknown else { return }
        let waiter = newWaiter()
        processes[process].requests.append(.init(waiter: waiter, kind: .settle, since: now))
        send(process, .requested(.settle, WaiterID(number: waiter)))
        if processes[process].requests.contains(where: { $0.waiter == waiter }) {
            fail(.growth, "p\(process + 1) says that it has", "work under way")
        }
    }
}
