import AuthInterface
import Foundation

@testable import TokenRefresh

/// What a machine decides, done as the engine's shell does it, and held against the laws.
extension ExploredWorld {
    /// Sends an event to a machine.
    mutating func send(_ slot: Int, _ event: RefreshEvent, as caller: ExploredProcess.Caller? = nil) {
        // A file that is locked no longer is noticed before anything else.
        if !model.hasClaims { noticeLoss(slot) }
        var process = processes[slot].process
        if let caller { process.callers[process.nextCaller] = caller }
        var published = process.machine.published
        for action in process.machine.handle(event, at: instant) {
            if decisions != nil, let text = action.summary { decisions?.append(text) }
            perform(action, slot, &process, &published)
        }
        if let session = process.machine.current?.bundle.session { process.known.insert(session) }
        processes[slot] = ProcessSnapshot(process)
    }

    private mutating func perform(
        _ action: RefreshAction,
        _ slot: Int,
        _ process: inout ExploredProcess,
        _ published: inout SessionState
    ) {
        switch action {
        case .read(let purpose): process.work.append(.init(kind: .read(purpose)))
        case .write(let version, let content):
            process.work.append(.init(kind: .write(version: version, content)))
        case .lease(let id): process.leasing.append(id)
        case .release(let id):
            leases.removeAll { $0 == Lease(slot: slot, attempt: id) }
            if let name = process.leases.removeValue(forKey: id), model.hasClaims { released.insert(name) }
            if process.lostLease == id || process.keptLease == id {
                (process.lostLease, process.keptLease) = (nil, nil)
                // As a claim: its release says that the call of its owner has ended.
                lapsed.remove(owner(slot))
            }
            if process.condition == .suspending { excuseCalls(of: slot) }
        case .call(let id, let base, let request): call(id, base, request, slot)
        case .cancelCall(let id):
            for index in calls.indices where calls[index].slot == slot && calls[index].id == id {
                calls[index].isCancelled = true
            }
        case .revoke(let bundle, _):
            if server.isLive(bundle.session), !endedByUser.contains(bundle.session) {
                breaks(.health, "tokens of a session in use are revoked")
            }
            server.revoke(bundle.session)
        case .startTimer(let timer, let deadline): process.timers[timer] = deadline
        case .stopTimer(let timer): process.timers[timer] = nil
        case .respond(let waiter, let response): noteResponse(waiter, response, slot, &process)
        case .publish(let state):
            check(state, after: published, slot, process)
            published = state
        case .report(.callAbandoned): excuseCalls(of: slot)
        case .report: break
        }
    }

    // MARK: The laws of calls

    private mutating func call(_ id: AttemptID, _ base: TokenBundle, _ request: TokenRefreshRequest, _ slot: Int) {
        let key = Perspective(slot: slot).unview(key: request.idempotencyKey)
        let number = Int(request.refreshToken.split(separator: "r").last ?? "") ?? 0
        if everStored.contains(request.refreshToken) {
            if !recorded.contains(RecordedIntent(refreshToken: request.refreshToken, key: key)) {
                breaks(.intent, "p\(slot) spends r\(number), which was stored, without an intent in the store")
            }
            if !holdsLease(slot), processes[slot].process.lostLease == nil {
                breaks(.lease, "p\(slot) spends r\(number), which was stored, without the lease")
            }
        }
        // A date counts parts of a microsecond. A process that has lost the lease after its intent was stored, and
        // could not know it, has not read of a later failure.
        if let end = pauses[request.refreshToken], now + .milliseconds(1) < end,
            processes[slot].process.lostLease == nil
        {
            breaks(.pause, "p\(slot) spends r\(number) during the pause after a failure")
        }
        for other in calls where other.slot != nil && other.base.session == base.session && other.number == number {
            check(other, isJoinedBy: key, of: slot)
        }
        // Rule 4: the owner of the intent was given its time.
        let limit = ExploredProcess.policy.longestCall
        if excused.contains(where: {
            $0.session == base.session && $0.number == number && now - $0.startedAt >= limit
        }) {
            causes.insert(.limit)
        }
        add(id, base, number, key, slot)
    }

    private mutating func add(_ id: AttemptID, _ base: TokenBundle, _ number: Int, _ key: String, _ slot: Int) {
        let process = processes[slot].process
        // The limits of a call count from its intent.
        let intent = store.bundle?.refreshIntent.flatMap { $0.idempotencyKey == key ? $0 : nil }
        calls.append(
            Call(
                slot: slot, incarnation: process.incarnation, id: id, base: base, number: number, key: key,
                startedAt: intent.map { .seconds($0.date.timeIntervalSince(Self.start)) } ?? now
            )
        )
        if lapsed.contains(owner(slot)) { excuseCalls(of: slot) }
    }

    /// A second call with one refresh token is allowed where the process of one of the two has lost the lease and could
    /// not know it, and the server tolerates it or the limit has passed (rule 4).
    private mutating func check(_ other: Call, isJoinedBy key: String, of slot: Int) {
        let isOverdue = now - other.startedAt >= ExploredProcess.policy.longestCall
        if !other.isExcused, processes[slot].process.lostLease == nil {
            breaks(.oneCall, "p\(slot) spends r\(other.number) while a call of p\(other.slot ?? slot) is under way")
        } else if model.honoursKeys, !isOverdue, key != other.key {
            breaks(.oneCall, "p\(slot) spends r\(other.number) with another key than the call that is under way")
        } else if !model.honoursKeys, !isOverdue {
            breaks(.oneCall, "p\(slot) spends r\(other.number) before the limit of the call that may be under way")
        }
    }

    // MARK: The laws of responses and states

    private mutating func noteResponse(
        _ waiter: WaiterID,
        _ response: RefreshResponse,
        _ slot: Int,
        _ process: inout ExploredProcess
    ) {
        guard let caller = process.callers.removeValue(forKey: waiter) else {
            return breaks(.responses, "p\(slot) responses a caller who does not wait")
        }
        switch (response, caller.purpose) {
        case (.token(let token), .replacement(let refused, _)) where token.session != refused.session:
            breaks(.sessions, "p\(slot) returns to a request of \(refused.session) a token of \(token.session)")
        case (.failed(let error), .refresh):
            process.retryAt = error.retryAfter.map { now + $0 }
        case (.done, .signOut(let session)) where store.bundle?.session == session:
            breaks(.signOutIsFinal, "p\(slot) says that \(session) is signed out, and its tokens are in the store")
        default: break
        }
    }

    private mutating func check(
        _ state: SessionState,
        after published: SessionState,
        _ slot: Int,
        _ process: ExploredProcess
    ) {
        switch (state, published) {
        case (.signedIn(let session), _) where process.left.contains(session):
            breaks(.signOutIsFinal, "p\(slot) is signed in to \(session) again, which was signed out there")
        case (.signedOut(.byUser), .signedIn(let session)) where !endedByUser.contains(session):
            breaks(.health, "p\(slot) says that the user has ended \(session)")
        case (.signedOut(.never), .signedIn(let session)):
            breaks(.health, "p\(slot) forgets \(session)")
        case (.signedOut(.expired), .signedIn(let session)) where server.isLive(session):
            breaks(.health, "p\(slot) ends \(session), which the server still honours")
        default: break
        }
    }

    /// After a step: work that is waited for is under way.
    mutating func findIdleWait() {
        for slot in processes.indices {
            let process = processes[slot].process
            guard process.isAwake, process.work.isEmpty, process.leasing.isEmpty, process.timers.isEmpty,
                !hasCall(slot)
            else { continue }
            if !process.callers.isEmpty { breaks(.waiting, "a caller in p\(slot) waits, and nothing is under way") }
            if holdsLease(slot) { breaks(.leaseEnds, "p\(slot) keeps the lease, and nothing is under way") }
        }
    }
}
