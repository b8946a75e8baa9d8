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
                kinds = [.continues, .crashes]
            } else {
                kinds = storeSteps(slot, process) + userSteps(process) + lifeSteps(slot, process)
            }
            steps += kinds.map { ExplorationStep(process: slot, kind: $0) }
        }
        addTimers(to: &steps)
        let hasIntent = world.store.content.bundle?.refreshIntent != nil && world.plan.lease.claimTime == nil
        if world.store.lease != nil || hasIntent {
            steps.append(.init(process: world.store.lease?.process ?? 0, kind: .leaseIsRemoved))
        }
        return steps.filter { resource(of: $0).map(bounds.has) ?? true }
    }

    private func steps(of call: Call, _ index: Int) -> [ExplorationStep.Kind] {
        var kinds: [ExplorationStep.Kind] = []
        if call.phase == .sent { kinds.append(.serverProcesses(call: index)) }
        guard !call.isOrphan, world.processes[call.process].runs else { return kinds }
        if call.phase != .sent { kinds.append(.response(call: index)) }
        kinds.append(.connectionBreaks(call: index))
        switch call.phase {
        case .sent, .responded(.issued): kinds.append(.serverFails(call: index))
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
                kinds.append(.leaseIsRefused(index, id))
            case .write where job.event != nil: kinds += [.storeResponds(index), .storeReportsFailure(index)]
            case _ where job.event != nil: kinds.append(.storeResponds(index))
            default: kinds += [.storeWorks(index), .storeFails(index)]
            }
        }
        if world.holdsLease(slot) { kinds.append(.leaseIsCut) }
        if world.plan.lease.claimTime != nil, world.isUnaware(slot) { kinds.append(.noticesLoss) }
        return kinds
    }

    private func userSteps(_ process: DeviceProcess) -> [ExplorationStep.Kind] {
        var kinds: [ExplorationStep.Kind] = [.signsIn, .isNotifiedOfChange]
        if process.current != nil {
            kinds.append(.signsOut)
            let isAsking = process.requests.contains { $0.kind == .refresh }
            if !isAsking, process.retryAt == nil { kinds.append(.requestsRefresh) }
        }
        if process.requests.contains(where: { !$0.isWaiting }) {
            kinds.append(.isRefused)
        } else if process.machine.readyToken(at: world.instant.uptime) != nil {
            kinds.append(.sendsRequest)
        }
        return kinds
    }

    private func lifeSteps(_ slot: Int, _ process: DeviceProcess) -> [ExplorationStep.Kind] {
        // A process that does nothing starts again as it was.
        let isWorking = process.jobs.contains { if case .lease = $0.kind { false } else { true } }
        let isBusy = hasCall(slot) || world.holdsLease(slot) || isWorking
        var kinds: [ExplorationStep.Kind] = isBusy ? [.crashes] : []
        if process.isSuspending {
            if !world.holdsLease(slot) { kinds.append(.isSuspended) }
        } else if isBusy {
            kinds.append(.suspensionIsNear)
        }
        return kinds
    }

    /// Time passes to the next timer and no further; of those that are due, any may fire first.
    private func addTimers(to steps: inout [ExplorationStep]) {
        let next = max(world.nextTimer ?? .max, world.now)
        for (slot, process) in world.processes.enumerated() where process.runs {
            for set in process.timers.sorted(by: { $0.timer.rank < $1.timer.rank }) where set.at <= next {
                steps.append(.init(process: slot, kind: .timer(set.timer)))
            }
            if let at = process.retryAt, at <= next, process.current != nil {
                steps.append(.init(process: slot, kind: .retries))
            }
        }
    }
}
