import AuthInterface

@testable import TokenRefresh

/// What can happen next, in an order that does not depend on the run.
extension ExploredWorld {
    func steps() -> [ExplorationStep] {
        var steps = world.calls.indices.flatMap(steps(ofCall:))
        for (slot, process) in world.processes.enumerated() {
            if !process.isAlive {
                steps.append(
                    ExplorationStep(slot, "restarts") {
                        _ = $0.restart(slot)
                        _ = $0.ask(slot, for: .restore, .restore)
                    })
            } else if process.isSuspended {
                steps.append(ExplorationStep(slot, "continues") { _ = $0.resume(slot) })
                steps.append(crash(slot))
            } else {
                steps += storeSteps(slot, process) + userSteps(slot, process) + lifeSteps(slot, process)
            }
        }
        for (slot, process) in world.processes.enumerated() where process.runs {
            steps += timerSteps(slot, process)
        }
        let hasIntent = world.store.content.bundle?.refreshIntent != nil && world.plan.lease.claimTime == nil
        if world.store.lease != nil || hasIntent {
            let holder = world.store.lease?.process ?? 0
            steps.append(ExplorationStep(holder, "loses what shows its lease", .removal) { $0.removeLease() })
        }
        return steps.filter { $0.resource.map(bounds.has) ?? true }
    }

    private func steps(ofCall index: Int) -> [ExplorationStep] {
        let call = world.calls[index]
        let process = call.process
        var steps: [ExplorationStep] = []
        if call.phase == .sent {
            steps.append(ExplorationStep(process, "has its call processed") { $0.serve(index) })
        }
        guard !call.isOrphan, world.processes[process].runs else { return steps }
        if call.phase != .sent {
            steps.append(ExplorationStep(process, "receives the response") { $0.respond(index) })
        }
        // Whether the server has processed the call, or will, is not known.
        steps.append(ExplorationStep(process, "loses the connection of its call", .lost) { _ = $0.end(index) })
        switch call.phase {
        case .sent, .responded(.issued):
            steps.append(ExplorationStep(process, "finds the server busy", .busy) { $0.failServer(index) })
        case .responded(.rejected), .responded(.failed): break
        }
        if call.isCancelled {
            steps.append(ExplorationStep(process, "has its cancelled call ended") { _ = $0.end(index) })
        }
        return steps
    }

    private func storeSteps(_ slot: Int, _ process: DeviceProcess) -> [ExplorationStep] {
        var steps: [ExplorationStep] = []
        let isFree = world.store.lease.map(world.isExpired) ?? true || world.store.fault == .leaseIsNotExclusive
        for (index, job) in process.jobs.enumerated() {
            if case .lease(let id) = job.kind {
                if isFree {
                    steps.append(
                        ExplorationStep(slot, "gets the lease") {
                            $0.end(index, of: slot, with: $0.give(id, to: slot))
                        })
                }
                steps.append(
                    ExplorationStep(slot, "gets no lease", .failure) {
                        $0.end(index, of: slot, with: .leaseFailed(id, .busyModel))
                    })
                continue
            }
            let isDone = job.event != nil
            let name = isDone ? "gets a result of the store" : "has work done by the store"
            steps.append(ExplorationStep(slot, name) { $0.work(on: index, of: slot) })
            switch job.kind {
            case .write(let version, _):
                let failure = RefreshEvent.wrote(version: version, .failed(.simulated))
                steps.append(
                    ExplorationStep(slot, "is told of a failed write", isDone ? .misreport : .failure) {
                        $0.end(index, of: slot, with: failure)
                    })
            case .read(let purpose) where !isDone:
                let failure = RefreshEvent.read(purpose, .failure(.simulated), ownerMayCall: false)
                steps.append(
                    ExplorationStep(slot, "cannot read the store", .failure) {
                        $0.end(index, of: slot, with: failure)
                    })
            case .read, .lease, .release: break
            }
        }
        if world.holdsLease(slot) {
            steps.append(ExplorationStep(slot, "has its lease cut", .cut) { _ = $0.cut() })
        }
        if world.plan.lease.claimTime != nil, world.isUnaware(slot) {
            steps.append(ExplorationStep(slot, "notices the loss of a lease") { $0.noticeLosses(slot) })
        }
        return steps
    }

    private func userSteps(_ slot: Int, _ process: DeviceProcess) -> [ExplorationStep] {
        var steps = [
            ExplorationStep(slot, "signs in", .signIn) { $0.signIn(slot, as: "ada") },
            ExplorationStep(slot, "is notified of a change", .check) { $0.send(slot, .storeChanged) },
        ]
        if process.current != nil {
            steps.append(ExplorationStep(slot, "signs out", .signOut) { $0.signOut(slot, as: .byUser) })
            let isAsking = process.requests.contains { $0.kind == .refresh }
            if !isAsking, process.retryAt == nil {
                steps.append(ExplorationStep(slot, "requests a refresh", .refresh) { $0.askForRefresh(slot) })
            }
        }
        if let index = process.requests.firstIndex(where: { !$0.isWaiting }) {
            steps.append(ExplorationStep(slot, "is refused") { $0.refuse(index, of: slot) })
        } else if process.machine.value.readyToken(at: world.instant.uptime) != nil {
            steps.append(ExplorationStep(slot, "sends a request", .request) { $0.sendRequest(slot, endpoint: 2) })
        }
        return steps
    }

    private func lifeSteps(_ slot: Int, _ process: DeviceProcess) -> [ExplorationStep] {
        // A process that does nothing starts again as it was.
        let isWorking = process.jobs.contains { if case .lease = $0.kind { false } else { true } }
        let isBusy = hasCall(slot) || world.holdsLease(slot) || isWorking
        var steps = isBusy ? [crash(slot)] : []
        if process.isSuspending {
            if !world.holdsLease(slot) {
                steps.append(ExplorationStep(slot, "is suspended") { $0.putToSleep(slot) })
            }
        } else if isBusy {
            steps.append(
                ExplorationStep(slot, "is about to be suspended", .suspension) { $0.announceSuspension(of: slot) })
        }
        return steps
    }

    private func crash(_ slot: Int) -> ExplorationStep {
        ExplorationStep(slot, "crashes", .crash) { _ = $0.crash(slot) }
    }

    private func hasCall(_ slot: Int) -> Bool { world.calls.contains { $0.process == slot && !$0.isOrphan } }

    /// Time passes to the next timer and no further; of those that are due, any may fire first.
    private func timerSteps(_ slot: Int, _ process: DeviceProcess) -> [ExplorationStep] {
        let next = max(world.nextTimer ?? .max, world.now)
        let due = process.timers.indices.filter { process.timers[$0].at <= next }
        var steps = due.sorted { process.timers[$0].timer.rank < process.timers[$1].timer.rank }.map { index in
            let set = process.timers[index]
            return ExplorationStep(slot, "has a timer fire", resource(of: set.timer, slot)) {
                $0.moveTime(to: set.at)
                $0.fire(slot, timer: index)
            }
        }
        if let at = process.retryAt, at <= next, process.current != nil {
            steps.append(
                ExplorationStep(slot, "requests a refresh again", .pause) {
                    $0.moveTime(to: at)
                    $0.askForRefresh(slot)
                })
        }
        return steps
    }

    private func resource(of timer: RefreshTimer, _ slot: Int) -> ExplorationBounds.Resource? {
        switch timer {
        // One that waits for the other process's refresh fails with it: the slow one has been counted.
        case .deadline: hasCall(slot) ? .slow : .pause
        case .callLimit: .limit
        case .writeDeadline, .loadDeadline, .checkDeadline: .slow
        case .waiterDeadline, .cooldown, .storeRetry, .reload: .pause
        case .abandonment: nil
        }
    }
}

/// What a step does. Nothing is drawn where all rates are zero.
extension World {
    /// Does a piece of the store's work, or reports its result.
    fileprivate mutating func work(on job: Int, of process: Int) {
        var draws = RandomDraws(0)
        _ = work(on: job, of: process, &draws)
    }

    /// The response to a call arrives.
    fileprivate mutating func respond(_ call: Int) {
        var draws = RandomDraws(0)
        _ = respond(call, &draws)
    }

    fileprivate mutating func end(_ job: Int, of process: Int, with event: RefreshEvent) {
        processes[process].jobs[job].event = event
        work(on: job, of: process)
    }

    fileprivate mutating func failServer(_ call: Int) {
        let isSent = calls[call].phase == .sent
        if !isSent { server.noteFate(.lost, of: calls[call]) }
        calls[call].phase = .responded(.failed(status: isSent ? 503 : 502))
    }

    fileprivate mutating func askForRefresh(_ process: Int) {
        processes[process].retryAt = nil
        _ = ask(process, for: .refresh, .refresh)
    }

    fileprivate mutating func refuse(_ index: Int, of process: Int) {
        guard case .carrying(let token) = processes[process].requests[index].phase else { return }
        askAgain(process, index, with: TokenRefusal(of: token))
    }
}
