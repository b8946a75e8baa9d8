import AuthInterface

@testable import TokenRefresh

/// What can happen next, in an order that does not depend on the run.
extension ExploredWorld {
    func steps() -> [ExplorationStep] {
        var steps: [ExplorationStep] = []
        for index in calls.indices { add(callSteps: index, to: &steps) }
        for slot in processes.indices {
            let process = processes[slot].process
            switch process.condition {
            case .dead: steps.append(.restarts(slot))
            case .suspended:
                steps.append(.continues(slot))
                if bounds.has(.crash) { steps.append(.crashes(slot)) }
            case .running, .suspending:
                add(storeSteps: slot, process, to: &steps)
                add(userSteps: slot, process, to: &steps)
                add(lifeSteps: slot, process, to: &steps)
            }
        }
        add(timersTo: &steps)
        let hasIntent = store.bundle?.refreshIntent != nil
        if bounds.has(.removal), !leases.isEmpty || (hasIntent && !model.hasClaims) { steps.append(.leaseIsRemoved) }
        return steps
    }

    private func isFailure(_ stage: Call.Stage) -> Bool {
        switch stage {
        case .failed, .processed(.rejected): true
        case .sent, .processed(.tokens): false
        }
    }

    private func add(callSteps index: Int, to steps: inout [ExplorationStep]) {
        let call = calls[index]
        if call.stage == .sent { steps.append(.serverProcesses(call: index)) }
        guard let slot = call.slot, processes[slot].process.isAwake else { return }
        if call.stage != .sent { steps.append(.response(call: index)) }
        if bounds.has(.lost) { steps.append(.connectionBreaks(call: index)) }
        if bounds.has(.busy), !isFailure(call.stage) { steps.append(.serverFails(call: index)) }
        if call.isCancelled { steps.append(.cancelledCallEnds(call: index)) }
    }

    private func add(storeSteps slot: Int, _ process: ExploredProcess, to steps: inout [ExplorationStep]) {
        for (index, work) in process.work.enumerated() {
            if work.result != nil {
                steps.append(.storeResponds(slot, work: index))
                if case .write = work.kind, bounds.has(.misreport) {
                    steps.append(.storeReportsFailure(slot, work: index))
                }
            } else {
                steps.append(.storeWorks(slot, work: index))
                if bounds.has(.failure) { steps.append(.storeFails(slot, work: index)) }
            }
        }
        for attempt in process.leasing {
            if leases.isEmpty || model.flaw == .leaseIsGivenTwice { steps.append(.leaseIsGiven(slot, attempt)) }
            if bounds.has(.failure) { steps.append(.leaseIsRefused(slot, attempt)) }
        }
        if bounds.has(.cut), holdsLease(slot) { steps.append(.leaseIsCut(slot)) }
        if model.hasClaims, process.lostLease != nil { steps.append(.noticesLoss(slot)) }
    }

    private func add(userSteps slot: Int, _ process: ExploredProcess, to steps: inout [ExplorationStep]) {
        let isSignedIn = process.machine.current != nil
        if isSignedIn, !process.hasRefreshCaller, process.retryAt == nil, bounds.has(.refresh) {
            steps.append(.requestsRefresh(slot))
        }
        if process.request != nil {
            steps.append(.isRefused(slot))
        } else if process.machine.readyToken(at: now) != nil, bounds.has(.request) {
            steps.append(.sendsRequest(slot))
        }
        if bounds.has(.signIn) { steps.append(.signsIn(slot)) }
        if isSignedIn, bounds.has(.signOut) { steps.append(.signsOut(slot)) }
        if bounds.has(.check) { steps.append(.isNotifiedOfChange(slot)) }
    }

    private func add(lifeSteps slot: Int, _ process: ExploredProcess, to steps: inout [ExplorationStep]) {
        // A process that does nothing starts again as it was.
        let isBusy = hasCall(slot) || holdsLease(slot) || !process.work.isEmpty
        if bounds.has(.crash), isBusy { steps.append(.crashes(slot)) }
        if process.condition == .suspending, !holdsLease(slot) { steps.append(.isSuspended(slot)) }
        if process.condition == .running, bounds.has(.suspension), isBusy { steps.append(.suspensionIsNear(slot)) }
    }

    /// Time passes to the next timer and no further; of those that are due, any may fire first.
    private func add(timersTo steps: inout [ExplorationStep]) {
        var next = Duration.seconds(1_000_000)
        for snapshot in processes where snapshot.process.isAwake {
            for at in snapshot.process.timers.values { next = min(next, at) }
        }
        for slot in processes.indices where processes[slot].process.isAwake {
            let process = processes[slot].process
            for (timer, at) in process.timers.sorted(by: { $0.key.rank < $1.key.rank })
            where at <= max(next, now) && resource(of: timer, slot).map(bounds.has) ?? true {
                steps.append(.timer(slot, timer))
            }
            if let at = process.retryAt, at <= max(next, now), bounds.has(.pause), process.machine.current != nil {
                steps.append(.retries(slot))
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
