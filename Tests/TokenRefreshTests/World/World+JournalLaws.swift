import AuthInterface

@testable import TokenRefresh

/// G30: the laws of the journal.
extension World {
    /// Notes what a process learns of the journal before it reads the store.
    mutating func noteJournal(_ process: Int, _ event: RefreshEvent) {
        if case .journalWrote(.failure) = event { processes[process].notes.isJournalLate = true }
        guard case .journalRead(let result) = event, processes[process].notes.awaitsJournal else { return }
        processes[process].notes.awaitsJournal = false
        processes[process].notes.journal = try? result.get()
    }

    /// Notes that the journal has taken all that a process had to write.
    func noteJournalWritten(_ process: Int, _ event: RefreshEvent) {
        guard case .journalWrote(.success) = event else { return }
        let isWriting = processes[process].jobs.contains { if case .writeJournal = $0.kind { true } else { false } }
        if !isWriting { processes[process].notes.isJournalLate = false }
    }

    /// A sign-out has been completed for its caller.
    mutating func noteSignedOut(_ session: SessionID?) {
        guard plan.hasJournal, let session, !server[session].isDamaged else { return }
        signedOut.insert(session)
    }

    mutating func checkJournal(_ process: Int, _ state: SessionState, _ before: MachineSnapshot) {
        switch state {
        case .signedIn(let session)
        where signedOut.contains(session) && processes[process].notes.signedOutBefore.contains(session):
            // A journal that cannot be read does not keep a session from being restored.
            guard processes[process].notes.journal != nil else { return }
            fail(.signedOut, "p\(process + 1) is signed in to \(session.rawValue) again")
        case .signedOut(.lost(let sighting)):
            // The journal may not know yet of the sign-in that has replaced it, and whose tokens have vanished.
            // Nor of an end that it could not note, and after which the process was killed.
            guard let session = sighting?.session,
                vanished.contains(session) || unnotedEndings.contains(session)
                    || (!haveVanished.isEmpty && server[session].isRetired)
                    || (haveVanished.contains(session) && before.event.misses(session))
            else {
                return fail(.lost, "p\(process + 1) has lost \(sighting?.session.rawValue ?? "nothing")")
            }
        case .signedOut(.never):
            guard case .read(.load, .success(.empty), _) = before.event,
                let seen = processes[process].notes.journal?.seen
            else { return }
            fail(.lost, "p\(process + 1) says nothing of \(seen.session.rawValue)")
        default: break
        }
    }

    /// The end of sessions is stored. A store that is not shared keeps no tombstone, so that only the journal tells of
    /// it later: in vain where it fails, or takes too long.
    mutating func noteEnd(of scope: EndScope, over old: StoredSession, by process: Int) {
        guard !isShared, processes[process].notes.isJournalLate else { return }
        let sessions = scope.sessions.union([old.bundle?.session, journal.entry.seen?.session].compactMap(\.self))
        unnotedEndings.formUnion(sessions.filter { !journal.entry.ends($0) })
    }

    /// Whether a sign-out before the first read may be meant for a session, which any process then ends that finds it:
    /// it was asked for after the sign-in; or the journal was not told that it is spared, and the dates of the two are
    /// of different clocks, or the bundle is of an older version, which does not say when its session began.
    func mayEndUnread(_ session: SessionID, _ process: Int) -> Bool {
        let family = Int(named: session.rawValue)
        guard plan.hasJournal, let asked = unreadSignOutAt, let begun = server.signedInAt(family) else { return false }
        if begun <= asked { return true }
        guard !spared.contains(session) || processes[process].notes.isJournalLate else { return false }
        return isClockSet(since: asked) || (store.showsEmptyTokens && saidLifetime == nil)
    }

    /// The journal has taken an edit. Before their tokens are stored it is told of sessions that no sign-out before a
    /// first read is meant for; one that it takes later may be.
    mutating func noteSpared(by edit: JournalEdit) {
        for case .sparing(let session, _) in edit.notes { spared.insert(session) }
        let unread = journal.entry.pending.filter(\.includesUnread)
        spared = spared.filter { session in unread.allSatisfy { $0.spared.contains(session) } }
    }

    mutating func checkLoss(_ process: Int, _ actions: [RefreshAction]) {
        guard plan.hasJournal, actions.contains(where: \.saysLost) else { return }
        for action in actions {
            switch action {
            case .write, .revoke: fail(.lostHarmless, "p\(process + 1) \(action)")
            default: break
            }
        }
    }
}

extension RefreshAction {
    fileprivate var saysLost: Bool {
        if case .publish(.signedOut(.lost)) = self { true } else { false }
    }
}

extension RefreshEvent {
    /// Whether a read was made when the store did not hold a session: since then it may have been written again.
    fileprivate func misses(_ session: SessionID) -> Bool {
        guard case .read(_, .success(let content), _) = self else { return false }
        return content.bundle?.session != session
    }
}

extension SessionJournalEntry {
    func ends(_ session: SessionID, as reason: SignOutReason? = nil) -> Bool {
        pending.contains { $0.sessions.contains(session) && (reason == nil || $0.reason == reason) }
    }
}
