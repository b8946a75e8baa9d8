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

    /// What it costs to take a step.
    func resource(of step: ExplorationStep) -> ExplorationBounds.Resource? {
        switch step.kind {
        // One that waits for the other process's refresh fails with it: the slow one has been counted.
        case .timer(.deadline): hasCall(step.process) ? .slow : .pause
        default: step.kind.resource
        }
    }

    // MARK: Taking a step

    mutating func take(_ step: ExplorationStep) {
        let process = step.process
        if let resource = resource(of: step) { bounds.spend(resource) }
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
        case .requestsRefresh: askForRefresh(process)
        case .retries:
            world.moveTime(to: world.processes[process].retryAt ?? world.now)
            askForRefresh(process)
        case .sendsRequest: world.sendRequest(process, endpoint: 2)
        case .isRefused:
            for (index, request) in world.processes[process].requests.enumerated() {
                guard case .carrying(let token) = request.phase else { continue }
                return world.askAgain(process, index, with: TokenRefusal(of: token))
            }
        case .signsIn: world.signIn(process, as: "ada")
        case .signsOut: world.signOut(process, as: .byUser)
        case .isNotifiedOfChange: world.send(process, .storeChanged)
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
        case .storeFails(let job), .storeReportsFailure(let job): fail(job, of: process)
        case .leaseIsGiven(let job, let id): end(job, of: process, with: world.give(id, to: process))
        case .leaseIsRefused(let job, let id): end(job, of: process, with: .leaseFailed(id, .busyModel))
        case .leaseIsCut: _ = world.cut()
        case .leaseIsRemoved: world.removeLease()
        case .noticesLoss: world.noticeLosses(process)
        default: takeServerStep(kind, process)
        }
    }

    /// Does a piece of the store's work, or reports its result. Nothing is drawn where all rates are zero.
    private mutating func work(on job: Int, of process: Int) {
        var draws = RandomDraws(0)
        _ = world.work(on: job, of: process, &draws)
    }

    private mutating func end(_ job: Int, of process: Int, with event: RefreshEvent) {
        world.processes[process].jobs[job].event = event
        work(on: job, of: process)
    }

    private mutating func fail(_ job: Int, of process: Int) {
        switch world.processes[process].jobs[job].kind {
        case .read(let purpose): end(job, of: process, with: .read(purpose, .failure(.simulated), ownerMayCall: false))
        case .write(let version, _): end(job, of: process, with: .wrote(version: version, .failed(.simulated)))
        case .lease, .release: break
        }
    }

    private mutating func takeServerStep(_ kind: ExplorationStep.Kind, _ process: Int) {
        switch kind {
        case .serverProcesses(let call): world.serve(call)
        case .serverFails(let call):
            let isSent = world.calls[call].phase == .sent
            if !isSent { world.server.noteFate(.lost, of: world.calls[call]) }
            world.calls[call].phase = .responded(.failed(status: isSent ? 503 : 502))
        case .response(let call):
            var draws = RandomDraws(0)
            _ = world.respond(call, &draws)
        // Whether the server has processed the call, or will, is not known.
        case .connectionBreaks(let call), .cancelledCallEnds(let call): _ = world.end(call)
        default: takeLifeStep(kind, process)
        }
    }

    private mutating func takeLifeStep(_ kind: ExplorationStep.Kind, _ process: Int) {
        switch kind {
        case .timer(let timer):
            guard let index = world.processes[process].timers.firstIndex(where: { $0.timer == timer }) else { break }
            world.moveTime(to: world.processes[process].timers[index].at)
            world.fire(process, timer: index)
        case .crashes: _ = world.crash(process)
        case .restarts:
            _ = world.restart(process)
            _ = world.ask(process, for: .restore, .restore)
        case .suspensionIsNear: world.announceSuspension(of: process)
        case .isSuspended: world.putToSleep(process)
        case .continues: _ = world.resume(process)
        default: break
        }
    }
}
