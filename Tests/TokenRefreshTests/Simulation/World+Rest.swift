import AuthInterface

@testable import TokenRefresh

/// The end of a world: all pending work is completed, and the result must be in order.
extension World {
    mutating func comeToRest() {
        if isTraced { note("the world comes to rest") }
        isDraining = true
        store.condition = .works
        journal.condition = .works
        isServerDown = false
        refusesEverything = false
        for process in 0..<processes.count {
            processes[process].storeCondition = .works
            if processes[process].isSuspended { resume(process) }
        }
        goOnToTheEnd()
        if violation == nil { checkRest() }
        if violation == nil { checkService() }
    }

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
        var rounds = 0
        while violation == nil, doEach(&draws) {
            rounds += 1
            if rounds > 10_000 { fail(.rest, "the same goes on and on") }
        }
        return rounds > 0
    }

    /// Takes a step with each call, each report and each job.
    private mutating func doEach(_ draws: inout RandomDraws) -> Bool {
        var isMoving = false
        for index in (0..<calls.count).reversed() where take(step(ofCall: index, &draws), &draws) { isMoving = true }
        for process in 0..<processes.count where processes[process].runs {
            if processes[process].hasReport {
                storeChanged(process)
                isMoving = true
            }
            for index in (0..<processes[process].jobs.count).reversed()
            where index < processes[process].jobs.count && take(step(ofJob: index, process), &draws) {
                isMoving = true
            }
        }
        return isMoving
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
        let isAwaited = processes.contains { process in
            process.isAlive && process.jobs.contains { if case .lease = $0.kind { true } else { false } }
        }
        if isAwaited { moveTime(to: now + 1_000) }
        return isAwaited
    }

    private mutating func checkRest() {
        for process in 0..<processes.count where processes[process].isAlive {
            checkRest(process)
            for family in processes[process].mustRevoke.sorted() {
                fail(.mustRevoke, "p\(process + 1) has not revoked \(server.session(family).rawValue)")
            }
        }
    }

    /// G11, G12: the store holds the newest bundle of the session in use, or nothing after its end.
    private mutating func checkRest(_ process: Int) {
        if let stored = store.content.bundle, processes[process].notes.left.contains(stored.session) {
            fail(.revival, "p\(process + 1) has left \(stored.session.rawValue), and the store holds it")
        }
        guard let bundle = processes[process].current?.bundle else { return }
        guard !server[bundle.session].isRetired else { return }
        guard let stored = store.content.bundle, stored.session == bundle.session else {
            return fail(.newest, "p\(process + 1) has \(bundle), the store \(store.content)")
        }
        if stored.generation < bundle.generation
            || (stored.generation == bundle.generation && stored.refreshToken != bundle.refreshToken)
        {
            fail(.newest, "p\(process + 1) has \(bundle), the store \(stored)")
        }
    }
}

/// The state of a world at rest, and whether it serves requests.
extension World {
    /// The time after which no failure of the past delays a refresh, in milliseconds.
    private static let longestPause = 400_000

    private var living: [Int] { processes.indices.filter { processes[$0].isAlive } }

    mutating func checkService() {
        for process in living where violation == nil { checkLeftovers(process) }
        for process in living where violation == nil { checkFollowing(process) }
        moveTime(to: now + Self.longestPause)
        for process in living where violation == nil { checkService(process) }
    }

    /// A process that restores gets the state of the shared store.
    private mutating func checkFollowing(_ process: Int) {
        guard isShared else { return }
        ask(process, for: .restore, .restore)
        goOnToTheEnd()
        let published = processes[process].published
        switch store.content {
        case .active(let stored) where published != .signedIn(stored.session):
            fail(.follows, "p\(process + 1) says \(published), the store holds \(stored)")
        case .tombstone, .empty:
            guard case .signedIn = published else { break }
            fail(.follows, "p\(process + 1) says \(published), the store \(store.content)")
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
        let isHeld = bundle.refreshToken.map { server.honours(Int(named: $0)) } ?? false
        if isHeld || server.isAlive(Int(named: bundle.session.rawValue)) {
            fail(.service, "p\(process + 1) gets no token for \(bundle)")
        }
    }

    /// Sends a request, and once more if its token is refused.
    private mutating func isServed(_ process: Int) -> Bool {
        sendRequest(process, endpoint: 1)
        for isLast in [false, true] {
            let waiter = waiters
            goOnToTheEnd()
            guard let index = processes[process].requests.firstIndex(where: { $0.waiter == waiter }),
                case .carrying(let token) = processes[process].requests[index].phase
            else { return false }
            let isTaken = server.takes(Int(named: token.value), at: now)
            if isTaken || isLast {
                processes[process].requests.remove(at: index)
                return isTaken
            }
            askAgain(process, index, with: TokenRefusal(of: token, endpoint: "e1", status: 401))
        }
        return false
    }

    /// What a machine keeps when nothing is under way.
    private mutating func checkLeftovers(_ process: Int) {
        let status = processes[process].machine.value.status
        if status.isRefreshing { fail(.growth, "p\(process + 1) keeps a refresh") }
        for call in calls where call.process == process && !call.isOrphan && !call.isCancelled {
            fail(.growth, "p\(process + 1) keeps a call")
        }
        if !processes[process].jobs.isEmpty { fail(.growth, "p\(process + 1) keeps work for the store") }
        if !processes[process].timers.isEmpty { fail(.growth, "p\(process + 1) keeps timers") }
        if store.lease?.owner == processes[process].owner || !processes[process].leases.isEmpty {
            fail(.lease, "p\(process + 1) holds the lease")
        }
        guard processes[process].published != .unknown else { return }
        ask(process, for: .settle, .settle)
        if processes[process].requests.contains(where: { $0.kind == .settle }) {
            fail(.growth, "p\(process + 1) says that it has work under way")
        }
    }
}
