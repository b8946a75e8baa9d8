import AuthInterface

@testable import TokenRefresh

/// The journal around the store (G30): what the shell does by the rules of the journal, one step at a time.
extension World {
    /// Reads the journal, or then the store.
    mutating func read(_ purpose: ReadPurpose, _ index: Int, of process: Int, _ draws: inout RandomDraws) {
        var job = processes[process].jobs[index]
        if job.journal == nil {
            job.journal = journal.read()
            if case .success(let entry)? = job.journal { processes[process].entry = entry }
        } else {
            job.found = content(for: purpose, process, &draws)
        }
        job.event = reading(purpose, of: job, process, &draws)
        processes[process].jobs[index] = job
    }

    /// What journal and store say, once both were read. Without the journal nothing is restored; later it is left out.
    mutating func reading(
        _ purpose: ReadPurpose, of job: DeviceProcess.Job, _ process: Int, _ draws: inout RandomDraws
    ) -> RefreshEvent? {
        if purpose == .load, case .failure(let error)? = job.journal {
            return .read(purpose, StoreReading(result: .failure(error)), ownerMayCall: false)
        }
        guard let found = job.found, let journal = job.journal else { return nil }
        let entry = (try? journal.get()) ?? SessionJournalEntry()
        var ending: SignOutReason?
        switch found {
        case .success(.active(let bundle)):
            ending = entry.ending(of: bundle)
            if ending == nil { see(bundle, process, &draws) }
        case .success(.empty):
            // The second read of the shell would find the same at this instant.
            let lost = entry.seen.flatMap { $0.isRecent(at: instant.date) ? SignOutReason.lost($0) : nil }
            ending = entry.pending?.reason ?? lost
        case .success(.tombstone), .failure: break
        }
        let intent = (try? found.get())?.bundle?.refreshIntent
        let ownerMayCall = intent.map { mayCall($0, process) } ?? false
        let reading = StoreReading(result: found, ending: ending, noted: entry.ordinal)
        return .read(purpose, reading, ownerMayCall: ownerMayCall)
    }

    /// Rule 10. What others have signed in is read before a user signs in or out, where store and journal respond.
    mutating func readOrder(_ process: Int) {
        let isHanging = condition(for: process) == .hangs || (plan.hasJournal && journal.condition == .hangs)
        guard !isHanging, isShared || processes[process].published == .unknown else { return }
        let noted = plan.hasJournal ? (try? journal.read().get())?.ordinal : nil
        let found = store.read(in: condition(for: process))
        send(process, .read(.order, StoreReading(result: found, noted: noted), ownerMayCall: false))
    }

    /// Notes what ends, or then writes, or then removes the note.
    mutating func write(
        _ version: Int, _ content: StoreContent, _ index: Int, of process: Int, _ draws: inout RandomDraws
    ) {
        let job = processes[process].jobs[index]
        processes[process].jobs[index].since = now
        guard let journal = job.journal else { return note(version, content, index, of: process, &draws) }
        let outcome = job.outcome ?? store(content, of: process, &draws)
        if job.outcome != nil || isUnsettled(content, outcome, process) {
            // After a note that did not come in time, the write is reported without a second wait.
            if job.outcome == nil, case .success = journal {
                processes[process].jobs[index].outcome = outcome
                return
            }
            let date = instant.date
            _ = change(process, &draws) { $0 = content.settled($0, outcome, in: Self.storeName, at: date) }
        }
        if case .written = outcome, let bundle = content.bundle, !content.isAct { see(bundle, process, &draws) }
        processes[process].jobs[index].event = .wrote(version: version, outcome)
    }

    private mutating func note(
        _ version: Int, _ content: StoreContent, _ index: Int, of process: Int, _ draws: inout RandomDraws
    ) {
        guard let note = content.note(isShared: isShared) else { return }
        var result = Result<SessionJournalEntry, TokenStoreError>.success(journal.entry)
        if store.fault != .endingsAreNotNoted, !(processes[process].entry?.holds(note) ?? false) {
            result = change(process, &draws) { $0.note(note) }
        }
        processes[process].jobs[index].journal = result
        guard case .success = result else { return }
        // Of a session that the server has rejected, newer tokens stay.
        if note.generation == nil { noteEnd(upTo: note.ordinal) }
        send(process, .noted(version: version))
    }

    /// Whether the journal, as the process knows it, is to change after a write that has not failed.
    private func isUnsettled(_ content: StoreContent, _ outcome: WriteOutcome, _ process: Int) -> Bool {
        if case .failed = outcome { return false }
        guard let entry = processes[process].entry else { return plan.hasJournal && content.isAct }
        return content.settled(entry, outcome, in: Self.storeName, at: instant.date) != entry
    }

    /// Notes that the store holds a session, unless that is noted.
    private mutating func see(_ bundle: TokenBundle, _ process: Int, _ draws: inout RandomDraws) {
        let date = instant.date
        guard processes[process].entry?.lacks(bundle, at: date) ?? false else { return }
        _ = change(process, &draws) { $0.see(bundle, in: Self.storeName, at: date) }
    }

    private static let storeName = "store"

    private mutating func change(
        _ process: Int, _ draws: inout RandomDraws, _ change: (inout SessionJournalEntry) -> Void
    ) -> Result<SessionJournalEntry, TokenStoreError> {
        guard case .success(var entry) = journal.read() else {
            journal.hasMissed = true
            return journal.read()
        }
        change(&entry)
        if entry != journal.entry { reportChange(&draws) }
        journal.entry = entry
        processes[process].entry = entry
        return .success(entry)
    }
}

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
