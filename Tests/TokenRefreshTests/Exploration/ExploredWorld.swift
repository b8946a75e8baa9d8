import AuthInterface

@testable import TokenRefresh

/// A world of two processes that share a session, and how much may still happen in it.
struct ExploredWorld {
    var world: World
    var bounds: ExplorationBounds

    init(_ model: ExplorationModel, _ bounds: ExplorationBounds) {
        world = World(plan: WorldPlan(exploring: model), fault: model.flaw)
        self.bounds = bounds
        // The session began before: neither of the two has signed in to it.
        let grant = world.server.signIn("ada", process: -1, at: world.now)
        let session = SessionID(rawValue: "ada0")
        world.store.content = .active(
            TokenBundle(accessToken: "a\(grant)", refreshToken: "r\(grant)", session: session))
        world.server.noteStored(grant, by: -1)
        for process in 0...1 {
            _ = world.ask(process, for: .restore, .restore)
            take(.init(process: process, kind: .storeWorks(0)))
            take(.init(process: process, kind: .storeResponds(0)))
        }
    }

    func hasCall(_ process: Int) -> Bool { world.calls.contains { $0.process == process && !$0.isOrphan } }

    // MARK: Taking a step

    mutating func take(_ step: ExplorationStep) {
        let process = step.process
        // The world before the step is kept, and shares the other process.
        world.processes[process] = world.processes[process].copy()
        takeUserStep(step.kind, process)
        // No process waits for what is on the way back to one that was killed.
        world.calls.removeAll { $0.isOrphan && $0.phase != .sent }
        // A request whose refused token was replaced has been served.
        world.processes[process].requests.removeAll { !$0.isWaiting && $0.kind != .token }
    }

    private mutating func takeUserStep(_ kind: ExplorationStep.Kind, _ process: Int) {
        switch kind {
        case .requestsRefresh:
            bounds.spend(.refresh)
            askForRefresh(process)
        case .retries:
            bounds.spend(.pause)
            world.moveTime(to: world.processes[process].retryAt ?? world.now)
            askForRefresh(process)
        case .sendsRequest:
            bounds.spend(.request)
            world.sendRequest(process, endpoint: 2)
        case .isRefused:
            for (index, request) in world.processes[process].requests.enumerated() {
                guard case .carrying(let token) = request.phase else { continue }
                return world.askAgain(process, index, with: TokenRefusal(of: token))
            }
        case .signsIn:
            bounds.spend(.signIn)
            world.signIn(process, as: "ada")
        case .signsOut:
            bounds.spend(.signOut)
            world.signOut(process, as: .byUser)
        case .isNotifiedOfChange:
            bounds.spend(.check)
            world.send(process, .storeChanged)
        default: takeStoreStep(kind, process)
        }
    }

    private mutating func askForRefresh(_ process: Int) {
        world.processes[process].retryAt = nil
        _ = world.ask(process, for: .refresh, .refresh)
    }

    private mutating func takeStoreStep(_ kind: ExplorationStep.Kind, _ process: Int) {
        switch kind {
        case .storeWorks(let job), .storeResponds(let job): work(on: job, of: process)
        case .storeFails(let job):
            bounds.spend(.failure)
            fail(job, of: process)
        case .storeReportsFailure(let job):
            bounds.spend(.misreport)
            fail(job, of: process)
        case .leaseIsGiven(let job, let id):
            world.processes[process].jobs[job].event = world.give(id, to: process)
            work(on: job, of: process)
        case .leaseIsRefused(let job, let id):
            bounds.spend(.failure)
            world.processes[process].jobs[job].event = .leaseFailed(id, .busyModel)
            work(on: job, of: process)
        case .leaseIsCut:
            bounds.spend(.cut)
            _ = world.cut()
        case .leaseIsRemoved:
            bounds.spend(.removal)
            world.removeLease()
        case .noticesLoss: world.noticeLosses(process)
        default: takeServerStep(kind, process)
        }
    }

    /// Does a piece of the store's work, or reports its result. Nothing is drawn where all rates are zero.
    private mutating func work(on job: Int, of process: Int) {
        var draws = RandomDraws(0)
        _ = world.work(on: job, of: process, &draws)
    }

    private mutating func fail(_ job: Int, of process: Int) {
        switch world.processes[process].jobs[job].kind {
        case .read(let purpose):
            let event = RefreshEvent.read(purpose, .failure(.simulated), ownerMayCall: false)
            world.processes[process].jobs[job].event = event
        case .write(let version, _):
            world.processes[process].jobs[job].event = .wrote(version: version, .failed(.simulated))
        case .lease, .release: break
        }
        work(on: job, of: process)
    }

    private mutating func takeServerStep(_ kind: ExplorationStep.Kind, _ process: Int) {
        switch kind {
        case .serverProcesses(let call): world.serve(call)
        case .serverFails(let call):
            bounds.spend(.busy)
            let isSent = world.calls[call].phase == .sent
            if !isSent { world.server.noteFate(.lost, of: world.calls[call]) }
            world.calls[call].phase = .responded(.failed(status: isSent ? 503 : 502))
        case .response(let call):
            var draws = RandomDraws(0)
            _ = world.respond(call, &draws)
        case .connectionBreaks(let call):
            bounds.spend(.lost)
            _ = world.end(call)
        // Whether the server has processed it, or will, is not known.
        case .cancelledCallEnds(let call): _ = world.end(call)
        default: takeLifeStep(kind, process)
        }
    }

    private mutating func takeLifeStep(_ kind: ExplorationStep.Kind, _ process: Int) {
        switch kind {
        case .timer(let timer):
            guard let index = world.processes[process].timers.firstIndex(where: { $0.timer == timer }) else { break }
            if let resource = resource(of: timer, process) { bounds.spend(resource) }
            world.moveTime(to: world.processes[process].timers[index].at)
            world.fire(process, timer: index)
        case .crashes:
            bounds.spend(.crash)
            _ = world.crash(process)
        case .restarts:
            _ = world.restart(process)
            _ = world.ask(process, for: .restore, .restore)
        case .suspensionIsNear:
            bounds.spend(.suspension)
            world.processes[process].isSuspending = true
            world.send(process, .suspensionNear)
        case .isSuspended: world.putToSleep(process)
        case .continues: _ = world.resume(process)
        default: break
        }
    }
}
