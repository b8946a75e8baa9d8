import AuthInterface

@testable import TokenRefresh

/// Which step is next, by chance.
extension World {
    /// Takes a step. Returns whether it was possible: if not, nothing has happened.
    mutating func step(_ draw: UInt64) -> Bool {
        var draws = RandomDraws(draw)
        return take(step(&draws), &draws)
    }

    mutating func take(_ step: Step?, _ draws: inout RandomDraws) -> Bool {
        guard let step else { return false }
        take(step, &draws)
        return true
    }

    private func step(_ draws: inout RandomDraws) -> Step? {
        let process = draws.pick(processes.count)
        let choice = draws.pick(200)
        guard choice < 176 else { return fault(process, &draws) }
        guard processes[process].isAlive else { return choice < 20 ? Step(process, .start) : nil }
        guard processes[process].runs else {
            if choice < 20 { return Step(process, .resume) }
            return choice < 120 ? callStep(&draws) : pass(process, choice, &draws)
        }
        switch choice {
        case ..<30: return request(process, &draws)
        case ..<70: return goOn(process, &draws)
        case ..<72: return leave(process, &draws)
        case ..<108: return storeStep(process, &draws)
        case ..<128: return callStep(&draws)
        case ..<142: return fire(process, &draws)
        case ..<168: return pass(process, choice, &draws)
        case ..<170: return Step(process, .noteDate)
        case ..<172: return processes[process].hasReport ? Step(process, .storeChanged) : nil
        default:
            guard processes[process].requests.count < 8 else { return nil }
            return Step(process, choice < 173 ? .restore : choice < 175 ? .refresh : .settle)
        }
    }

    /// Faults, and actions of users; their rates are in the plan.
    private func fault(_ process: Int, _ draws: inout RandomDraws) -> Step? {
        let rates = plan.rates
        switch draws.pick(25) {
        case ..<5:
            guard draws.chance(rates.userMoves) else { return nil }
            guard canStepUp(process), draws.chance(40) else { return signIn(process, &draws) }
            return Step(process, .stepUp, at: now + 1)
        case ..<8:
            guard draws.chance(rates.userMoves), processes[process].runs else { return nil }
            return Step(process, .signOut(draws.chance(70) ? .byUser : .application("account disabled")))
        case ..<10: return draws.chance(rates.crashes) && processes[process].isAlive ? Step(process, .crash) : nil
        case ..<11:
            return draws.chance(rates.clockJumps) ? Step(process, .setClock(days: draws.of([-30, -2, 2, 30]))) : nil
        case ..<13:
            // The system has said a moment before that it suspends a process, most times.
            guard draws.chance(rates.suspensions), processes[process].runs else { return nil }
            let isNear = !processes[process].isSuspending && draws.chance(80)
            return Step(process, isNear ? .announceSuspension : .suspend)
        case ..<14: return draws.chance(rates.cuts) && canCutLease ? Step(process, .cutLease) : nil
        case ..<18: return storeCondition(process, &draws)
        default: return serverCondition(&draws).map { Step(process, $0) }
        }
    }

    private func storeCondition(_ process: Int, _ draws: inout RandomDraws) -> Step? {
        let damage = plan.traits.contains(.damage) ? 10 : 0
        if plan.hasJournal, draws.chance(30) {
            if draws.chance(damage) { return store.content == .empty ? nil : Step(process, .emptyStore) }
            let works = journal.condition == .works
            guard !works || draws.chance(plan.rates.storeFaults) else { return nil }
            return Step(process, .setJournal(works ? draws.of([.fails, .hangs]) : .works))
        }
        if draws.chance(damage) { return Step(process, .backUp) }
        // One process reaches the store, and another one does not.
        let isOwn = draws.chance(40)
        let works = (isOwn ? processes[process].storeCondition : store.condition) == .works
        guard !works || draws.chance(plan.rates.storeFaults) else { return nil }
        let shared: [DeviceStore.Condition] = isOwn || damage == 0 ? [] : [.isCorrupt]
        let faults = [.failsToRead, .failsToWrite, .fails, .hangs] + shared
        return Step(process, .setStore(works ? draws.of(faults) : .works, isOwn: isOwn))
    }

    private func serverCondition(_ draws: inout RandomDraws) -> Step.Kind? {
        if isServerDown || refusesEverything { return .recoverServers }
        guard draws.chance(plan.rates.serverFaults) else { return nil }
        switch draws.pick(10) {
        case ..<3: return .stopServer
        case ..<5: return .refuseEverything
        case ..<9 where now > server.expiredBefore: return .expireTokens
        case 9 where !server.families.isEmpty && draws.chance(30):
            return .revoke(family: draws.pick(server.families.count))
        default: return nil
        }
    }

    // MARK: Requests and users

    private func request(_ process: Int, _ draws: inout RandomDraws) -> Step? {
        guard processes[process].requests.count < 5 else { return nil }
        if case .signedOut = processes[process].published, processes[process].current == nil {
            if draws.chance(40) { return signIn(process, &draws) }
            // The user opens the app again.
            if store.content.bundle != nil, draws.chance(40) { return Step(process, .crash) }
        }
        return Step(process, .request(endpoint: draws.pick(3)))
    }

    /// A request is served or refused by the resource server, or requests a replacement of its token.
    private func goOn(_ process: Int, _ draws: inout RandomDraws) -> Step? {
        let count = processes[process].requests.count
        guard count > 0 else { return nil }
        let index = draws.pick(count)
        let request = processes[process].requests[index]
        switch request.phase {
        case .waiting: return nil
        case .carrying(let token):
            let isBroken = refusesEverything || (plan.server.hasBrokenEndpoint && request.endpoint == 0)
            let isTaken = !isBroken && server.takes(Int(named: token.value), at: now)
            return Step(process, isTaken || request.retries > 1 ? .serveRequest(index) : .refuseRequest(index))
        case .refused(let token):
            let isInvalid = !server.takes(Int(named: token.value), at: now) && draws.chance(50)
            return Step(process, .replaceToken(request: index, saysTokenIsInvalid: isInvalid))
        }
    }

    private func leave(_ process: Int, _ draws: inout RandomDraws) -> Step? {
        let count = processes[process].requests.count
        guard count > 0 else { return nil }
        let index = draws.pick(count)
        return processes[process].requests[index].isWaiting ? Step(process, .cancelRequest(index)) : nil
    }

    private func signIn(_ process: Int, _ draws: inout RandomDraws) -> Step? {
        processes[process].runs ? Step(process, .signIn(user: draws.of(["ada", "bob"]))) : nil
    }

    // MARK: Calls

    private func callStep(_ draws: inout RandomDraws) -> Step? {
        calls.isEmpty ? nil : step(ofCall: draws.pick(calls.count), &draws)
    }

    /// A refresh reaches the server, or its response the client; or it is lost on the way.
    func step(ofCall index: Int, _ draws: inout RandomDraws) -> Step? {
        let isTroubled = !isDraining && draws.chance(plan.rates.serverFaults)
        guard !isStuck(index, &draws), let kind = kind(ofCall: index, isTroubled, &draws) else { return nil }
        return Step(calls[index].process, kind)
    }

    private func kind(ofCall index: Int, _ isTroubled: Bool, _ draws: inout RandomDraws) -> Step.Kind? {
        let canEnd = canReceive(index)
        if calls[index].isCancelled, !calls[index].isOrphan, !calls[index].isDeaf, isDraining || draws.chance(50) {
            return canEnd ? .endCall(index) : nil
        }
        switch calls[index].phase {
        case .made where !processes[calls[index].process].runs: return nil
        case .made where calls[index].isCancelled || (isTroubled && draws.chance(20)): return .endCall(index)
        case .made: return .writeCall(index)
        case .sent where isTroubled && draws.chance(25): return .hangCall(index, isDeaf: draws.chance(30))
        case .sent where isServerDown || (isTroubled && draws.chance(40)):
            return canEnd ? .refuseCall(index, refusal(&draws)) : nil
        case .sent where !isDraining && canEnd && draws.chance(plan.server.ambiguousResponses):
            return .refuseCall(index, .init(.ambiguous, status: 401))
        case .sent
        where !isDraining && canEnd && plan.server.saysSubject && draws.chance(plan.server.cachedResponses):
            return .answerFromCache(index)
        case .sent: return .serveCall(index)
        case .responded where isTroubled && !calls[index].isHung && draws.chance(20):
            return .hangCall(index, isDeaf: draws.chance(30))
        case .responded where isTroubled && draws.chance(40): return canEnd ? .endCall(index) : nil
        case .responded: return .respond(index)
        }
    }

    private func isStuck(_ index: Int, _ draws: inout RandomDraws) -> Bool {
        if calls[index].isOrphan { return false }
        if case .responded = calls[index].phase, !canReceive(index) { return true }
        if calls[index].isDeaf, !calls[index].isAbandoned { return true }
        return calls[index].isHung && !isDraining && (!calls[index].isOverdue || draws.chance(70))
    }

    /// Whether a call can end: a suspended process notices nothing, and no process waits for the call of a killed one.
    private func canReceive(_ index: Int) -> Bool {
        calls[index].isOrphan || !processes[calls[index].process].isSuspended
    }

    /// The server is not reached, is too busy, or wants the user to act first (G32).
    private func refusal(_ draws: inout RandomDraws) -> TokenRefreshError {
        let pause = draws.of([0, 0, 3, 30, 1_000])
        guard pause > 0 || draws.chance(50) else { return .unavailable }
        if draws.chance(20) { return TokenRefreshError(.userActionRequired, status: 400) }
        return TokenRefreshError(.unavailable, retryAfter: pause > 0 ? .seconds(pause) : nil, status: 503)
    }

    // MARK: The store

    private func storeStep(_ process: Int, _ draws: inout RandomDraws) -> Step? {
        let count = processes[process].jobs.count
        return count > 0 ? step(ofJob: draws.pick(count), process) : nil
    }

    /// The store does one piece of a process's work, or the process gets its result.
    func step(ofJob index: Int, _ process: Int) -> Step? {
        let job = processes[process].jobs[index]
        if job.event != nil { return Step(process, .report(index)) }
        if job.journal == nil || job.outcome != nil {
            let isOver = now - job.since >= plan.policy.storeLimit.milliseconds / 2
            return journal.condition != .hangs || isOver ? Step(process, .work(index)) : nil
        }
        let condition = condition(for: process)
        switch job.kind {
        case .release: return Step(process, .work(index))
        case _ where condition == .hangs: return nil
        case .lease where condition == .fails: return Step(process, .failWork(index, .locked))
        case .lease where isLeaseFree: return Step(process, .giveLease(job: index))
        case .lease:
            let isOver = now - job.since >= plan.policy.deadline.milliseconds
            return isOver ? Step(process, .failWork(index, .busy)) : nil
        case .read, .write: return Step(process, .work(index))
        }
    }

    // MARK: Time

    /// Time passes, at most to the next timer and its lateness.
    private func pass(_ process: Int, _ choice: Int, _ draws: inout RandomDraws) -> Step? {
        let next = nextTimer
        let then: Int
        if choice >= 160, let next {
            then = next
        } else {
            let short = choice < 160
            let passed = short ? draws.of([1, 5, 20, 200, 1_000]) : draws.of([1_000, 30_000, 300_000, 3_600_000])
            then = min(now + passed, next.map { $0 + Self.lateness } ?? .max)
        }
        return then > now ? Step(process, .pass, at: then) : nil
    }

    private func fire(_ process: Int, _ draws: inout RandomDraws) -> Step? {
        let timers = processes[process].timers
        let due = timers.indices.filter { timers[$0].at <= now }
        return due.isEmpty ? nil : Step(process, .fire(timer: draws.of(due)))
    }
}
