import AuthInterface

@testable import TokenRefresh

/// What can happen next, in an order that does not depend on the run.
extension ExploredWorld {
    func steps() -> [ExplorationStep] {
        var steps: [ExplorationStep] = []
        for (index, call) in world.calls.enumerated() {
            steps += self.steps(of: call, index).map { ExplorationStep(process: call.process, kind: $0) }
        }
        for (slot, process) in world.processes.enumerated() {
            var kinds: [ExplorationStep.Kind] = []
            if !process.isAlive {
                kinds = [.restarts]
            } else if process.isSuspended {
                kinds = bounds.has(.crash) ? [.continues, .crashes] : [.continues]
            } else {
                kinds = storeSteps(slot, process) + userSteps(process) + lifeSteps(slot, process)
            }
            steps += kinds.map { ExplorationStep(process: slot, kind: $0) }
        }
        addTimers(to: &steps)
        let hasIntent = world.store.content.bundle?.refreshIntent != nil && world.plan.lease.claimTime == nil
        if bounds.has(.removal), world.store.lease != nil || hasIntent {
            steps.append(.init(process: world.store.lease?.process ?? 0, kind: .leaseIsRemoved))
        }
        return steps
    }

    private func steps(of call: Call, _ index: Int) -> [ExplorationStep.Kind] {
        var kinds: [ExplorationStep.Kind] = []
        if call.phase == .sent { kinds.append(.serverProcesses(call: index)) }
        guard !call.isOrphan, world.processes[call.process].runs else { return kinds }
        if call.phase != .sent { kinds.append(.response(call: index)) }
        if bounds.has(.lost) { kinds.append(.connectionBreaks(call: index)) }
        switch call.phase {
        case .sent, .responded(.issued): if bounds.has(.busy) { kinds.append(.serverFails(call: index)) }
        case .responded(.rejected), .responded(.failed): break
        }
        if call.isCancelled { kinds.append(.cancelledCallEnds(call: index)) }
        return kinds
    }

    private func storeSteps(_ slot: Int, _ process: DeviceProcess) -> [ExplorationStep.Kind] {
        var kinds: [ExplorationStep.Kind] = []
        let isFree = world.store.lease.map(world.isExpired) ?? true || world.store.fault == .leaseIsNotExclusive
        for (index, job) in process.jobs.enumerated() {
            switch job.kind {
            case .lease(let id):
                if isFree { kinds.append(.leaseIsGiven(index, id)) }
                if bounds.has(.failure) { kinds.append(.leaseIsRefused(index, id)) }
            case .write where job.event != nil && bounds.has(.misreport):
                kinds += [.storeResponds(index), .storeReportsFailure(index)]
            case _ where job.event != nil: kinds.append(.storeResponds(index))
            default: kinds += bounds.has(.failure) ? [.storeWorks(index), .storeFails(index)] : [.storeWorks(index)]
            }
        }
        if bounds.has(.cut), world.holdsLease(slot) { kinds.append(.leaseIsCut) }
        if world.plan.lease.claimTime != nil, world.isUnaware(slot) { kinds.append(.noticesLoss) }
        return kinds
    }

    private func userSteps(_ process: DeviceProcess) -> [ExplorationStep.Kind] {
        var kinds: [ExplorationStep.Kind] = []
        let isSignedIn = process.current != nil
        let isAsking = process.requests.contains { $0.kind == .refresh }
        if isSignedIn, !isAsking, process.retryAt == nil, bounds.has(.refresh) { kinds.append(.requestsRefresh) }
        if process.requests.contains(where: { !$0.isWaiting }) {
            kinds.append(.isRefused)
        } else if process.machine.readyToken(at: world.instant.uptime) != nil, bounds.has(.request) {
            kinds.append(.sendsRequest)
        }
        if bounds.has(.signIn) { kinds.append(.signsIn) }
        if isSignedIn, bounds.has(.signOut) { kinds.append(.signsOut) }
        if bounds.has(.check) { kinds.append(.isNotifiedOfChange) }
        return kinds
    }

    private func lifeSteps(_ slot: Int, _ process: DeviceProcess) -> [ExplorationStep.Kind] {
        var kinds: [ExplorationStep.Kind] = []
        // A process that does nothing starts again as it was.
        let isWorking = process.jobs.contains { if case .lease = $0.kind { false } else { true } }
        let isBusy = hasCall(slot) || world.holdsLease(slot) || isWorking
        if bounds.has(.crash), isBusy { kinds.append(.crashes) }
        if process.isSuspending {
            if !world.holdsLease(slot) { kinds.append(.isSuspended) }
        } else if bounds.has(.suspension), isBusy {
            kinds.append(.suspensionIsNear)
        }
        return kinds
    }

    /// Time passes to the next timer and no further; of those that are due, any may fire first.
    private func addTimers(to steps: inout [ExplorationStep]) {
        let next = max(world.nextTimer ?? .max, world.now)
        for (slot, process) in world.processes.enumerated() where process.runs {
            for set in process.timers.sorted(by: { $0.timer.rank < $1.timer.rank })
            where set.at <= next && resource(of: set.timer, slot).map(bounds.has) ?? true {
                steps.append(.init(process: slot, kind: .timer(set.timer)))
            }
            if let at = process.retryAt, at <= next, bounds.has(.pause), process.current != nil {
                steps.append(.init(process: slot, kind: .retries))
            }
        }
    }

    /// What it costs that a timer fires.
    func resource(of timer: RefreshTimer, _ slot: Int) -> ExplorationBounds.Resource? {
        switch timer {
        // One that waits for the other process's refresh fails with it: the slow one has been counted.
        case .deadline: hasCall(slot) ? .slow : .pause
        case .waiterDeadline: .pause
        case .callLimit: .limit
        case .abandonment: nil
        case .writeDeadline, .loadDeadline, .checkDeadline: .slow
        case .cooldown, .storeRetry, .reload: .pause
        }
    }
}
