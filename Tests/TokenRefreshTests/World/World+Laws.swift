import AuthInterface

@testable import TokenRefresh

/// The laws, checked after each event.
extension World {
    mutating func checkLaws(_ process: Int, _ before: MachineSnapshot) {
        let bundle = processes[process].current?.bundle
        let session = bundle?.session
        if bundle != before.bundle { checkSubject(bundle, process, "uses") }
        if session == before.session, let bundle {
            let isOther = bundle.generation == before.generation && bundle.accessToken != before.bundle?.accessToken
            if bundle.generation < before.generation || (isOther && before.shown == nil) {
                fail(.backwards, "p\(process + 1) had g\(before.generation) and has \(bundle)")
            }
        }
        if let left = before.session, session != left {
            processes[process].notes.left.insert(left)
            processes[process].notes.pause = nil
            if !before.isEnding { checkReplacement(process, left, session) }
        }
        checkWaiting(process)
        checkGrowth(process)
    }

    /// G9. A sign-in is replaced by a later sign-in, or by its own end, and never by an earlier one.
    private mutating func checkReplacement(_ process: Int, _ left: SessionID, _ new: SessionID?) {
        guard let new, server[new].ordinal < server[left].ordinal, !server[left].isRetired else { return }
        fail(.backwards, "p\(process + 1) left \(left.rawValue) for the older \(new.rawValue)")
    }

    /// G8, G25. A caller for a token waits for the deadline at most in all. Timers may be late.
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

    mutating func reported(_ process: Int, _ event: SessionEvent) {
        switch event {
        case .refreshStarted where processes[process].requests.contains(where: { $0.kind == .refresh }):
            processes[process].notes.complained = processes[process].current?.bundle
        case .refreshed, .adopted: processes[process].notes.pause = nil
        case .lateResponseKept:
            for index in 0..<calls.count where calls[index].process == process { calls[index].isOverdue = true }
            processes[process].notes.pause = nil
        case .callAbandoned(let session, _): abandon(process, session)
        default: break
        }
    }

    /// G8. A call that did not end when it was cancelled counts as a lost response.
    private mutating func abandon(_ process: Int, _ session: SessionID) {
        for index in 0..<calls.count
        where calls[index].process == process && calls[index].isCancelled && calls[index].base.session == session {
            calls[index].isAbandoned = true
            server.noteFate(.lost, of: calls[index])
        }
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
            guard case .read(.load, let reading, _) = before.event, case .failure = reading.result else { return }
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
        if case .read(_, let read, _) = before.event, read.ending == reason, before.shown?.bundle != nil { return }
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
            fail(.health, "p\(process + 1) ends \(session.rawValue), and the store holds \(stored)")
        }
        if let token = before.newest?.refreshToken, server.honours(Int(named: token)) {
            fail(.health, "p\(process + 1) ends \(session.rawValue), and holds \(token) itself")
        }
    }

    // MARK: Revocations

    /// G9, G13. Only what its user has left, or what has ended, is revoked. `before`: it may end with this event.
    mutating func checkRevocation(of bundle: TokenBundle, _ process: Int, _ before: MachineSnapshot) {
        let number = Int(named: bundle.session.rawValue)
        let family = server.families[number]
        let isOver = family.isRevoked || family.isLoggedOut || family.isRetired || ended.contains(bundle.session)
        let wasLeft = bundle.session == before.session || processes[process].notes.left.contains(bundle.session)
        if !isOver, !wasLeft, !processes[process].mustRevoke.contains(number) {
            fail(.revocation, "p\(process + 1) revokes \(bundle.session.rawValue), which no user has left")
        }
    }

    /// G9. A session that its user has left is revoked, once the store knows it.
    mutating func noteRevocable(_ process: Int, _ session: SessionID?) {
        guard let session else { return }
        processes[process].mustRevoke.insert(Int(named: session.rawValue))
    }
}
