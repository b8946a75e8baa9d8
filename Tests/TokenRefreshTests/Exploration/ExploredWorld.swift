import AuthInterface

@testable import TokenRefresh

/// A world of two processes that share a session, or none yet, and how much may still happen in it.
struct ExploredWorld {
    var world: World
    var bounds: ExplorationBounds

    init(_ model: ExplorationModel, _ bounds: ExplorationBounds) {
        world = World(plan: WorldPlan(exploring: model, bounds), fault: model.flaw)
        self.bounds = bounds
        for process in 0...1 { world.processes[process].isAlive = !model.startsEmpty }
        guard !model.startsEmpty else { return }
        // The session began before: neither of the two has signed in to it.
        let grant = world.server.signIn("ada", at: world.now)
        let ordinal = SessionOrdinal(at: world.instant.date)
        world.server.families[0].ordinal = ordinal
        world.store.content = .active(
            TokenBundle(
                accessToken: "a\(grant)", refreshToken: "r\(grant)", session: world.server.session(0),
                subject: AuthorizationServer.subject(of: "ada"), ordinal: ordinal))
        world.server.noteStored(grant)
        for process in 0...1 {
            world.ask(process, for: .restore, .restore)
            world.goOnToTheEnd()
        }
    }

    mutating func take(_ choice: Choice) {
        let process = choice.process
        if let resource = choice.resource { bounds.spend(resource) }
        // The world before the step is kept, and shares the other process.
        world.processes[process] = world.processes[process].copy()
        // All rates are zero: nothing is left to chance.
        var draws = RandomDraws(0)
        for step in choice.steps { world.take(step, &draws) }
        // No process waits for what is on the way back to one that was killed.
        world.calls.removeAll { $0.isOrphan && $0.phase != .sent }
        // A request whose refused token was replaced has been served.
        world.processes[process].requests.removeAll { !$0.isWaiting && $0.kind != .token }
    }
}

/// Steps of one process with nothing in between, and what they cost.
struct Choice {
    let steps: [Step]
    /// `nil`: they cost nothing.
    let resource: ExplorationBounds.Resource?

    /// `time`: the time to which the first step waits.
    init(
        _ process: Int, _ kinds: Step.Kind..., costs resource: ExplorationBounds.Resource? = nil, at time: Int? = nil
    ) {
        steps = kinds.map { Step(process, $0, at: time) }
        self.resource = resource
    }

    var process: Int { steps[0].process }
}

/// What can happen next, in an order that does not depend on the run.
extension ExploredWorld {
    func choices() -> [Choice] {
        var choices = world.calls.indices.flatMap(choices(ofCall:))
        for (slot, process) in world.processes.enumerated() {
            if !process.isAlive {
                choices.append(Choice(slot, .start, .restore))
            } else if process.isSuspended {
                choices += [Choice(slot, .resume), Choice(slot, .crash, costs: .crash)]
            } else {
                choices += storeChoices(slot, process) + userChoices(slot, process) + lifeChoices(slot, process)
            }
        }
        for (slot, process) in world.processes.enumerated() where process.runs {
            choices += timerChoices(slot, process)
        }
        let hasIntent = world.store.content.bundle?.refreshIntent != nil && world.plan.lease.claimTime == nil
        if world.plan.hasJournal, world.store.content != .empty {
            choices.append(Choice(0, .emptyStore, costs: .vanish))
        }
        if world.store.lease != nil || hasIntent {
            choices.append(Choice(world.store.lease?.process ?? 0, .removeLease, costs: .removal))
        }
        return choices.filter { $0.resource.map(bounds.has) ?? true }
    }

    private func choices(ofCall index: Int) -> [Choice] {
        let call = world.calls[index]
        let process = call.process
        var choices: [Choice] = []
        if call.phase == .sent { choices.append(Choice(process, .serveCall(index))) }
        guard !call.isOrphan, world.processes[process].runs else { return choices }
        if call.phase == .made {
            if !call.isCancelled { choices.append(Choice(process, .writeCall(index))) }
            return choices + [
                Choice(process, .suspend, costs: .freeze), Choice(process, .endCall(index), costs: .lost),
            ]
        }
        if call.phase != .sent { choices.append(Choice(process, .respond(index))) }
        if call.phase == .sent { choices.append(Choice(process, .answerFromCache(index), costs: .cached)) }
        // Whether the server has processed the call, or will, is not known.
        choices.append(Choice(process, .endCall(index), costs: .lost))
        if call.phase != .responded(.rejected) {
            // Before the refresh, or after it.
            let busy = TokenRefreshError(.unavailable, status: call.phase == .sent ? 503 : 502)
            choices.append(Choice(process, .refuseCall(index, busy), costs: .busy))
        }
        if call.isCancelled { choices.append(Choice(process, .endCall(index))) }
        return choices
    }

    private func storeChoices(_ slot: Int, _ process: DeviceProcess) -> [Choice] {
        var choices: [Choice] = []
        for (index, job) in process.jobs.enumerated() {
            if case .lease = job.kind {
                if world.isLeaseFree { choices.append(Choice(slot, .giveLease(job: index), .report(index))) }
                choices.append(Choice(slot, .failWork(index, .busy), .report(index), costs: .failure))
                continue
            }
            let isDone = job.event != nil
            choices.append(Choice(slot, isDone ? .report(index) : .work(index)))
            let failure = (Step.Kind.failWork(index, .locked), Step.Kind.report(index))
            // The store may have taken a write that fails before the journal has removed its note.
            switch (job.kind, job.outcome != nil) {
            case (.lease, _), (.release, _): break
            case _ where job.journal == nil: choices.append(Choice(slot, failure.0, costs: .journal))
            case (_, false) where !isDone: choices.append(Choice(slot, failure.0, failure.1, costs: .failure))
            case (.write, let isTaken) where isTaken != isDone:
                choices.append(Choice(slot, failure.0, failure.1, costs: .misreport))
            case (.read, _), (.write, _): break
            }
        }
        if world.holdsLease(slot), world.canCutLease { choices.append(Choice(slot, .cutLease, costs: .cut)) }
        if world.plan.lease.claimTime != nil, world.isUnaware(slot) { choices.append(Choice(slot, .noticeLosses)) }
        return choices
    }

    private func userChoices(_ slot: Int, _ process: DeviceProcess) -> [Choice] {
        var choices = [Choice(slot, .storeChanged, costs: .check)]
        let (isUnread, isSignedIn) = (process.published == .unknown, process.current != nil)
        for isBlind in isUnread ? [false, true] : [false] {
            choices.append(Choice(slot, .signIn(user: "ada", isBlind: isBlind), costs: .signIn))
            guard isUnread || isSignedIn else { continue }
            choices.append(Choice(slot, .signOut(.byUser, isBlind: isBlind), costs: .signOut))
        }
        let isAsking = process.requests.contains { $0.kind == .refresh }
        if isSignedIn, !isAsking, process.retryAt == nil {
            choices.append(Choice(slot, .refresh, costs: .refresh))
        }
        if let index = process.requests.firstIndex(where: { !$0.isWaiting }) {
            choices.append(Choice(slot, .refuseRequest(index), .replaceToken(request: index)))
        } else if process.machine.value.ready?.token(at: world.instant.uptime) != nil {
            choices.append(Choice(slot, .request(endpoint: 2), costs: .request))
        }
        return choices
    }

    private func lifeChoices(_ slot: Int, _ process: DeviceProcess) -> [Choice] {
        // A process that does nothing starts again as it was.
        let isWorking = process.jobs.contains { if case .lease = $0.kind { false } else { true } }
        let isBusy = hasCall(slot) || world.holdsLease(slot) || isWorking || world.plan.hasJournal
        var choices = isBusy ? [Choice(slot, .crash, costs: .crash)] : []
        if process.isSuspending {
            if !world.holdsLease(slot) { choices.append(Choice(slot, .suspend)) }
        } else if isBusy {
            choices.append(Choice(slot, .announceSuspension, costs: .suspension))
        }
        return choices
    }

    private func hasCall(_ slot: Int) -> Bool { world.calls.contains { $0.process == slot && !$0.isOrphan } }

    /// Time passes to the next timer and no further; of those that are due, any may fire first.
    private func timerChoices(_ slot: Int, _ process: DeviceProcess) -> [Choice] {
        let next = max(world.nextTimer ?? .max, world.now)
        var choices = process.timers.enumerated().filter { $0.element.at <= next }.map { index, set in
            Choice(slot, .fire(timer: index), costs: resource(of: set.timer, slot), at: set.at)
        }
        if let at = process.retryAt, at <= next, process.current != nil {
            choices.append(Choice(slot, .refresh, costs: .pause, at: at))
        }
        return choices
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
