import AuthInterface
import Foundation

@testable import TokenRefresh

/// The laws, checked after each event.
extension World {
    mutating func checkLaws(_ process: Int, _ before: MachineSnapshot) {
        let bundle = processes[process].current?.bundle
        let session = bundle?.session
        // The laws of a bundle need no second look at the same one.
        let isOtherBundle = bundle != before.bundle
        if isOtherBundle {
            checkSubject(bundle, process, "uses")
            checkStepUp(process)
        }
        if isOtherBundle, session == before.session, processes[process].hasOtherTokens(than: before), let bundle {
            let isOther = bundle.generation == before.generation && bundle.accessToken != before.accessToken
            if bundle.generation < before.generation || (isOther && !before.showsStore) {
                fail(.backwards, "p\(process + 1) had g\(before.generation) and has \(bundle.traceText)")
            }
        }
        if let left = before.session, session != left {
            processes[process].notes.left.insert(left)
            processes[process].notes.coolDowns = [:]
            processes[process].notes.nextVerificationAt = 0
            processes[process].notes.failure = nil
            processes[process].notes.pause = nil
            processes[process].notes.isAttempting = false
            checkReplacement(process, left, session)
        }
        checkWaiting(process)
        checkGrowth(process)
    }

    /// G9. A sign-in is replaced by a later sign-in, or by its own end, and never by an earlier one.
    private mutating func checkReplacement(_ process: Int, _ left: SessionID, _ new: SessionID?) {
        guard let new, server[new].ordinal < server[left].ordinal else { return }
        let notes = processes[process].notes
        // The end of a refused sign-in, which was never stored, finds the session of the store. What is refused is its
        // refresh token or, where it has none, its access token.
        let isRefused = notes.sawRejection == left || (!plan.server.givesRefreshTokens && notes.invalid?.session == left)
        if !server[left].isRetired, !isRefused {
            fail(.backwards, "p\(process + 1) left \(left.rawValue) for the older \(new.rawValue)")
        }
    }

    /// G8, G25. A caller for a token waits for the deadline at most, whatever it waits for one after the other. Timers
    /// may be late.
    private mutating func checkWaiting(_ process: Int) {
        for request in processes[process].requests where now - request.since > 2_000 && request.isWaiting {
            let (waited, policy) = (now - request.since, plan.policy)
            let limit: Int
            switch request.kind {
            case .settle: continue
            case .signIn: limit = policy.storeLimit.milliseconds
            case .restore, .signOut: limit = policy.storeLimit.milliseconds * 2
            case .token, .replacement, .refresh: limit = policy.deadline.milliseconds
            }
            if waited > limit + 10 * Self.lateness {
                fail(.deadline, "p\(process + 1) #\(request.waiter) \(request.kind) has waited for \(waited) ms")
            }
        }
    }

    /// A caller waits, and a lease is kept, only while work is under way.
    mutating func checkWork(_ process: Int) {
        guard processes[process].jobs.isEmpty, processes[process].timers.isEmpty,
            !calls.contains(where: { $0.process == process && !$0.isOrphan })
        else { return }
        for request in processes[process].requests where request.isWaiting {
            fail(.waiting, "p\(process + 1) #\(request.waiter) \(request.kind) waits, and nothing is under way")
        }
        if holdsLease(process) { fail(.lease, "p\(process + 1) keeps the lease, and nothing is under way") }
    }

    /// How many timers a machine may have set, and how much work of the store may be pending.
    private static let (timerLimit, jobLimit) = (12, 6)

    private mutating func checkGrowth(_ process: Int) {
        let jobs = processes[process].jobs.count
        if jobs > Self.jobLimit { fail(.growth, "p\(process + 1) has \(jobs) jobs for the store") }
        guard processes[process].timers.count > Self.timerLimit else { return }
        // Each sign-in and sign-out may wait for the store, for as long as the store may take.
        var timers = processes[process].timers.count { if case .writeDeadline = $0.timer { false } else { true } }
        timers -= calls.count { $0.process == process && !$0.isOrphan }
        if timers > Self.timerLimit { fail(.growth, "p\(process + 1) has set \(timers) timers") }
    }

    // MARK: Reports

    mutating func reported(_ process: Int, _ event: SessionEvent, _ before: MachineSnapshot) {
        switch event {
        case .refreshStarted:
            processes[process].notes.knewServerDate = processes[process].notes.knowsServerDate
            processes[process].notes.isAttempting = true
            noteWish(process)
            checkStart(process, before)
            checkNeed(process)
            checkQuiet(process)
        case .refreshed(let session, let generation):
            processes[process].notes.refreshed = (.init(session: session, generation: generation), now)
            endFailures(process)
        case .refreshFailed(let session, _, let pause):
            processes[process].notes.failure = (session, now, events, now + pause.milliseconds)
            processes[process].notes.isFailing = true
            processes[process].notes.isAttempting = false
        case .adopted: endFailures(process)
        case .lateResponseKept:
            for index in 0..<calls.count where calls[index].process == process { calls[index].isOverdue = true }
            processes[process].notes.pause = nil
            processes[process].notes.isAttempting = true
        case .callAbandoned(let session, _): abandon(process, session, by: before.event)
        case .refusedAfterRefresh(_, _, let pause):
            guard let request = asking(process, before) else { break }
            processes[process].notes.coolDowns[request.endpoint] = now + pause.milliseconds
        default: break
        }
    }

    /// The request of the caller whose event the machine handles.
    private func asking(_ process: Int, _ before: MachineSnapshot) -> DeviceProcess.Request? {
        guard case .requested(_, let id) = before.event else { return nil }
        return processes[process].requests.first { $0.isWaiting && $0.waiter == id.number }
    }

    /// Notes that a caller has requested a refresh.
    private func noteWish(_ process: Int) {
        for request in processes[process].requests {
            if case .refresh = request.kind {
                processes[process].notes.complained = processes[process].current?.bundle
            }
        }
    }

    private func endFailures(_ process: Int) {
        processes[process].notes.pause = nil
        processes[process].notes.failure = nil
        processes[process].notes.isFailing = false
        processes[process].notes.isAttempting = false
    }

    /// G8. A call that did not end when it was cancelled counts as a lost response.
    private mutating func abandon(_ process: Int, _ session: SessionID, by event: RefreshEvent) {
        for index in 0..<calls.count
        where calls[index].process == process && calls[index].isCancelled && calls[index].base.session == session {
            if case .timerFired = event { checkWake(calls[index]) }
            calls[index].isAbandoned = true
            server.noteFate(.lost, of: calls[index])
        }
    }

    /// What a refusal, or a request in a pause, must not start.
    private mutating func checkStart(_ process: Int, _ before: MachineSnapshot) {
        let notes = processes[process].notes
        if let failure = notes.failure, failure.session == before.session, now < failure.until {
            fail(.pause, "p\(process + 1) starts an attempt \(failure.until - now) ms too early, by its own pause")
        }
        guard let refused = before.refusal?.token else { return }
        if isLateRefusal(before) { fail(.lateRefusal, "p\(process + 1) refreshes because of \(refused.traceText)") }
        guard processes[process].current?.bundle.accessToken == refused.value,
            let request = asking(process, before)
        else { return }
        if notes.coolDowns[request.endpoint] ?? 0 > now, before.urgency != .expired {
            fail(.loop, "p\(process + 1) refreshes for e\(request.endpoint) and \(refused.traceText) again")
        }
        // Who comes back to a session, as of a restored backup, knows nothing of what it has handed out before.
        if let failure = notes.failure, failure.session == refused.session, request.handedAt < failure.order,
            !notes.left.contains(refused.session), now < failure.at + plan.policy.failureSharing.milliseconds
        {
            fail(.sharing, "p\(process + 1) #\(request.waiter) starts an attempt")
        }
    }

    func isLateRefusal(_ before: MachineSnapshot) -> Bool {
        guard let refused = before.refusal?.token, refused.session == before.session else { return false }
        // What another process has refreshed moves the generation of a step-up, and the access token stays.
        guard refused.value != before.accessToken else { return false }
        return refused.generation < before.generation && before.urgency == .none && !before.isActivating
    }

    // MARK: Endings

    mutating func published(_ process: Int, _ state: SessionState, _ before: MachineSnapshot) {
        checkJournal(process, state, before)
        if case .signedIn(let session) = state, processes[process].notes.signedOut.contains(session) {
            fail(.revival, "p\(process + 1) is signed in to \(session.rawValue) again, which was signed out there")
        }
        guard case .signedOut(let reason) = state else { return }
        processes[process].notes.endedAt = server.families.count
        guard let session = before.session else {
            // The session that the read has shown ends at once.
            if !reason.isExpired, let found = before.shown?.bundle?.session {
                noteRevocable(process, found)
                server[found].isLoggedOut = true
            }
            guard case .read(.load, .failure, _, _, _) = before.event else { return }
            return fail(.store, "p\(process + 1) took a failure for an empty store")
        }
        if !processes[process].notes.endings.insert(session).inserted {
            fail(.oneEnding, "p\(process + 1) ends \(session.rawValue) again")
        }
        if case .signOut(let own, _) = before.event, own == reason { return }
        checkEnding(process, session, reason, before)
    }

    /// G4, G5, G22. A session ends with its true reason.
    private mutating func checkEnding(
        _ process: Int, _ session: SessionID, _ reason: SignOutReason, _ before: MachineSnapshot
    ) {
        let family = server[session]
        if case .tombstone(let end)? = before.shown, end.session == session || end.reason == reason {
            // A session that was replaced may end with the session that has replaced it.
            if end.reason != reason || (end.session == session && family.end != reason) {
                fail(.oneReason, "p\(process + 1) ends \(session.rawValue) as \(reason), the store says \(end.reason)")
            }
            return
        }
        // What the journal says.
        if case .read(_, .success(.active), _, reason, _) = before.event { return }
        guard reason.isExpired else {
            return fail(.ending, "p\(process + 1) ends \(session.rawValue) as \(reason)")
        }
        guard plan.server.givesRefreshTokens else { return checkExpiry(process, session, before) }
        if processes[process].notes.sawRejection != session {
            fail(.ending, "no call for \(session.rawValue) was rejected")
        }
        guard !processes[process].notes.wasAmbiguous else { return }
        if plan.server.honoursKeys, family.isTakenForStolen {
            fail(.keys, "p\(process + 1) loses \(session.rawValue) by a second use of a refresh token")
        }
        checkHealth(process, session, before)
    }

    /// G22. Without a refresh token the server's clock, or a refusal that says so, ends a session.
    private mutating func checkExpiry(_ process: Int, _ session: SessionID, _ before: MachineSnapshot) {
        if processes[process].notes.invalid == Mark(session: session, generation: before.generation) { return }
        let family = Int(named: session.rawValue)
        // What another process has received and not stored yet is not known.
        let stored = server.grants.last { $0.family == family && $0.wasStored }
        let grant = stored ?? server.grants[server.families[family].newest]
        let isOver = plan.server.lifetime.map { now >= grant.issuedAt + $0 - 1_000 } ?? false
        if !isOver { fail(.withoutRefreshToken, "p\(process + 1) ends \(session.rawValue)") }
    }

    /// G13. A session that can still be refreshed does not end.
    private mutating func checkHealth(_ process: Int, _ session: SessionID, _ before: MachineSnapshot) {
        if let stored = store.content.bundle, stored.session == session, let token = stored.refreshToken,
            server.honours(Int(named: token))
        {
            fail(.health, "p\(process + 1) ends \(session.rawValue), and the store holds \(stored.traceText)")
        }
        if let token = before.refreshToken, server.honours(Int(named: token)) {
            fail(.health, "p\(process + 1) ends \(session.rawValue), and holds \(token) itself")
        }
    }
}
