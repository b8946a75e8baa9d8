import AuthInterface
import Foundation

@testable import TokenRefresh

/// What a step does.
extension ExploredWorld {
    mutating func take(_ step: ExplorationStep) {
        switch step {
        case .requestsRefresh(let slot):
            bounds.spend(.refresh)
            ask(slot, .refresh)
        case .retries(let slot):
            bounds.spend(.pause)
            now = max(now, processes[slot].process.retryAt ?? now)
            ask(slot, .refresh)
        case .sendsRequest(let slot):
            bounds.spend(.request)
            let now = now
            change(slot) { $0.request = $0.machine.readyToken(at: now) }
        case .isRefused(let slot): refuse(slot)
        case .signsIn(let slot): signIn(slot)
        case .signsOut(let slot): signOut(slot)
        case .isNotifiedOfChange(let slot):
            bounds.spend(.check)
            send(slot, .storeChanged)
        case .storeWorks(let slot, let work): storeWorks(slot, work)
        case .storeFails(let slot, let work):
            bounds.spend(.failure)
            storeFails(slot, work)
        case .storeReportsFailure(let slot, let work):
            bounds.spend(.misreport)
            storeFails(slot, work)
        case .storeResponds(let slot, let work): storeResponds(slot, work)
        case .leaseIsGiven(let slot, let attempt):
            give(attempt, to: slot)
        case .leaseIsRefused(let slot, let attempt):
            bounds.spend(.failure)
            change(slot) { $0.leasing.removeAll { $0 == attempt } }
            send(slot, .leaseFailed(attempt, TokenStoreError(.busy, reason: "busy")))
        case .leaseIsCut(let slot):
            bounds.spend(.cut)
            takeLease(from: slot)
        case .leaseIsRemoved:
            bounds.spend(.removal)
            // The claim of a process is lost with its row. Another file can be locked beside the first.
            if !model.hasClaims { leaseNumber += 1 }
            for lease in leases { takeLease(from: lease.slot) }
        case .noticesLoss(let slot): noticeLoss(slot)
        default: takeRest(step)
        }
        findIdleWait()
    }

    private mutating func takeRest(_ step: ExplorationStep) {
        switch step {
        case .serverProcesses(let index): serverProcesses(index)
        case .serverFails(let index):
            bounds.spend(.busy)
            if case .processed = calls[index].stage {
                causes.insert(.lostResponse)
                calls[index].stage = .failed(status: 502)
            } else {
                calls[index].stage = .failed(status: 503)
            }
        case .response(let index): respond(index)
        case .connectionBreaks(let index):
            bounds.spend(.lost)
            causes.insert(.lostResponse)
            breakOff(index)
        case .cancelledCallEnds(let index):
            // Whether the server has processed it, or will, is not known: a lost response, and the limit explains it.
            breakOff(index)
        case .timer(let slot, let timer): fire(timer, slot)
        case .crashes(let slot): crash(slot)
        case .restarts(let slot): restart(slot)
        case .suspensionIsNear(let slot):
            bounds.spend(.suspension)
            change(slot) { $0.condition = .suspending }
            send(slot, .suspensionNear)
        case .isSuspended(let slot): change(slot) { $0.condition = .suspended }
        case .continues(let slot): change(slot) { $0.condition = .running }
        default: break
        }
    }

    // MARK: The lease

    private mutating func give(_ attempt: AttemptID, to slot: Int) {
        if model.hasClaims { leaseNumber += 1 }
        let name = "\(leaseNumber)"
        leases.append(Lease(slot: slot, attempt: attempt))
        change(slot) { [released] process in
            process.leasing.removeAll { $0 == attempt }
            process.leases[attempt] = name
            process.released = released
        }
        send(slot, .leased(attempt, identity: name))
    }

    private mutating func takeLease(from slot: Int) {
        let lost = leases.first { $0.slot == slot }?.attempt
        change(slot) { $0.lostLease = lost }
        leases.removeAll { $0.slot == slot }
        lapsed.insert(owner(slot))
        excuseCalls(of: slot)
        excuseSave(of: slot)
    }

    mutating func noticeLoss(_ slot: Int) {
        guard let lost = processes[slot].process.lostLease else { return }
        change(slot) { ($0.lostLease, $0.keptLease) = (nil, lost) }
        send(slot, .leaseLost(lost))
    }

    // MARK: Users

    private mutating func ask(_ slot: Int, _ request: CallerRequest) {
        change(slot) { $0.retryAt = nil }
        send(slot, .requested(request, processes[slot].process.nextCaller), as: .init(purpose: .refresh))
    }

    private mutating func refuse(_ slot: Int) {
        guard let token = processes[slot].process.request else { return }
        change(slot) { $0.request = nil }
        let refusal = TokenRefusal(of: token)
        let caller = ExploredProcess.Caller(purpose: .replacement(token, token.handout))
        send(slot, .requested(.replacement(refusal), processes[slot].process.nextCaller), as: caller)
    }

    private mutating func signIn(_ slot: Int) {
        bounds.spend(.signIn)
        signIns += 1
        let session = SessionID(rawValue: "s\(signIns)")
        server.open(session)
        if let old = processes[slot].process.machine.current?.bundle.session { endedByUser.insert(old) }
        let tokens = Self.tokens(0, of: session)
        change(slot) { $0.known.insert(session) }
        send(slot, .signIn(tokens, session, processes[slot].process.nextCaller), as: .init(purpose: .signIn(session)))
    }

    private mutating func signOut(_ slot: Int) {
        bounds.spend(.signOut)
        guard let session = processes[slot].process.machine.current?.bundle.session else { return }
        endedByUser.insert(session)
        change(slot) { $0.left.insert(session) }
        send(slot, .signOut(.byUser, processes[slot].process.nextCaller), as: .init(purpose: .signOut(session)))
    }

    // MARK: Time and processes

    private mutating func fire(_ timer: RefreshTimer, _ slot: Int) {
        if let resource = resource(of: timer, slot) { bounds.spend(resource) }
        if case .callLimit = timer { causes.insert(.limit) }
        now = max(now, processes[slot].process.timers[timer] ?? now)
        change(slot) { $0.timers[timer] = nil }
        send(slot, .timerFired(timer))
    }

    /// The kernel releases the locks of the process; what it had under way at the store is not done any more.
    private mutating func crash(_ slot: Int) {
        bounds.spend(.crash)
        let process = processes[slot].process
        if hasCall(slot) || process.machine.unsavedContent?.bundle != nil { causes.insert(.crash) }
        leases.removeAll { $0.slot == slot }
        for index in calls.indices where calls[index].slot == slot { calls[index].slot = nil }
        calls.removeAll { $0.slot == nil && $0.stage != .sent }
        var dead = ExploredProcess(incarnation: process.incarnation, honoursKeys: model.honoursKeys)
        dead.condition = .dead
        processes[slot] = ProcessSnapshot(dead)
    }

    private mutating func restart(_ slot: Int) {
        let incarnation = processes[slot].process.incarnation + 1
        processes[slot] = ProcessSnapshot(
            ExploredProcess(incarnation: incarnation, honoursKeys: model.honoursKeys)
        )
        send(slot, .requested(.restore, WaiterID(number: 1)), as: .init(purpose: .restore))
    }

    /// The lease of a process is cut while the tokens of its refresh are being saved. If the save takes longer than the
    /// limit of a call, the owner of the intent was given its time, and another process makes the call (rule 4).
    private mutating func excuseSave(of slot: Int) {
        guard let bundle = store.bundle, let intent = bundle.refreshIntent, intent.owner == owner(slot),
            let number = bundle.refreshToken?.split(separator: "r").last.flatMap({ Int($0) })
        else { return }
        let startedAt = Duration.seconds(intent.date.timeIntervalSince(Self.start))
        excused.insert(ExcusedCall(session: bundle.session, number: number, startedAt: startedAt))
    }

    mutating func excuseCalls(of slot: Int) {
        for index in calls.indices where calls[index].slot == slot {
            calls[index].isExcused = true
            let call = calls[index]
            excused.insert(
                ExcusedCall(session: call.base.session, number: call.number, startedAt: call.startedAt)
            )
        }
    }
}
