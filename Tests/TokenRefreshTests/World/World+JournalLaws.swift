import AuthInterface

@testable import TokenRefresh

/// The order of sign-ins (rule 10), and G30: what has ended stays so.
extension World {
    /// Sessions up to an ordinal have ended: the journal has noted it, or the store has it.
    mutating func noteEnd(upTo ordinal: SessionOrdinal) {
        ended.formUnion(server.families(upTo: ordinal).map(server.session))
    }

    /// G30. A read that began after the end of a session does not show it, unless it says that it is to end. A journal
    /// that cannot be read later than at the start changes nothing.
    mutating func checkRead(_ process: Int, _ event: RefreshEvent, of job: DeviceProcess.Job) {
        guard case .read(_, let reading, _) = event, reading.ending == nil, case .success? = job.journal,
            case .success(.active(let found)) = reading.result, job.ended.contains(found.session)
        else { return }
        fail(.signedOut, "p\(process + 1) finds \(found), which has ended")
    }

    mutating func checkJournal(_ process: Int, _ state: SessionState, _ before: MachineSnapshot) {
        switch (state, before.event) {
        case (.signedOut(.lost(let sighting)), _):
            // What the journal has missed it cannot say.
            if sighting != nil, journal.hasMissed { return }
            fail(.lost, "p\(process + 1) has lost \(sighting?.session.rawValue ?? "nothing")")
        case (.signedOut(.never), .read(.load, let reading, _)) where reading.result == .success(.empty):
            if let ending = reading.ending { fail(.lost, "p\(process + 1) says nothing of \(ending)") }
        default: break
        }
    }

    mutating func checkLoss(_ process: Int, _ actions: [RefreshAction]) {
        let isLost = actions.contains { if case .publish(.signedOut(.lost)) = $0 { true } else { false } }
        for action in actions where isLost {
            switch action {
            case .write, .revoke: fail(.lostHarmless, "p\(process + 1) \(action)")
            default: break
            }
        }
    }

    /// G9. Only a later sign-in replaces another one. If no clock was set, ordinals are in the order of the users.
    mutating func checkOrder(_ process: Int, _ new: TokenBundle, over old: StoredSession) {
        guard case .active(let other) = old, other.session != new.session else { return }
        let isEarlier = Int(named: new.session.rawValue) < Int(named: other.session.rawValue)
        if new.ordinal <= other.ordinal || (isEarlier && clockSetAt == nil) {
            fail(.order, "p\(process + 1) stores \(new) over \(other)")
        }
    }

    /// G9. An end removes its own session, and those that it knew, which were asked for before it.
    mutating func checkDeletion(_ process: Int, of old: TokenBundle, by scope: EndScope) {
        guard scope.session != old.session else { return }
        var text: String { "p\(process + 1) deletes \(old)" }
        // One process has a plain store for itself: the user asked for the end of what it holds, read or not.
        if isShared, old.ordinal > scope.ordinal { fail(.otherSignIn, "\(text) which it does not know") }
        // The end of a rejected session is stored before the session ends here.
        if case .rejected = scope { return }
        if clockSetAt == nil, Int(named: old.session.rawValue) >= processes[process].notes.endedAt {
            fail(.otherSignIn, "\(text) which came after the end")
        }
    }

    /// G6. Another process, and a later start, must find the pause after a failure, before this one calls again.
    mutating func checkMark(_ process: Int, _ base: TokenBundle) {
        for job in processes[process].jobs where job.event == nil && job.outcome == nil {
            guard case .write(_, .bundle(let marked, _)) = job.kind, marked.refreshIntent?.failure != nil,
                marked.hasSameTokens(as: base)
            else { continue }
            fail(.mark, "p\(process + 1) calls for \(base)")
        }
    }
}
