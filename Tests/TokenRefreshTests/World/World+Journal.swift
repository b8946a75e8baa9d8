import AuthInterface

@testable import TokenRefresh

/// The journal around the store (G30): what the shell does by the rules of the journal, one step at a time.
extension World {
    // MARK: Reading

    /// Reads the journal, or then the store.
    mutating func read(_ purpose: ReadPurpose, _ index: Int, of process: Int, _ draws: inout RandomDraws) {
        let job = processes[process].jobs[index]
        let isLate = store.fault == .journalIsReadLate && job.found == nil
        if job.journal == nil, !isLate {
            switch journal.read() {
            case .success(let entry):
                processes[process].entry = entry
                processes[process].jobs[index].journal = .success(entry)
            case .failure(let error):
                processes[process].jobs[index].event = failRead(purpose, index, of: process, error)
            }
        } else {
            processes[process].jobs[index].found = content(for: purpose, process, &draws)
        }
        showReading(purpose, index, of: process, &draws)
    }

    /// Journal or store fail. Without the journal nothing is restored; later it changes nothing.
    mutating func failRead(_ purpose: ReadPurpose, _ index: Int, of process: Int, _ error: TokenStoreError)
        -> RefreshEvent?
    {
        let isOfStore = processes[process].jobs[index].journal != nil
        if !isOfStore { processes[process].jobs[index].journal = .failure(error) }
        guard isOfStore || purpose == .load else { return nil }
        let entry = try? processes[process].jobs[index].journal?.get()
        return .read(purpose, .failure(error), ownerMayCall: false, noted: entry?.ordinal ?? .unknown)
    }

    /// What journal and store say, once both were read.
    private mutating func showReading(
        _ purpose: ReadPurpose, _ index: Int, of process: Int, _ draws: inout RandomDraws
    ) {
        let job = processes[process].jobs[index]
        guard job.event == nil, let found = job.found, let journal = job.journal else { return }
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
        processes[process].jobs[index].event = .read(
            purpose, found, ownerMayCall: intent.map { mayCall($0, process) } ?? false, ending: ending,
            noted: entry.ordinal)
    }

    /// Rule 10. What others have signed in is read before a user signs in or out, where store and journal respond.
    mutating func readOrder(_ process: Int) {
        let isHanging = condition(for: process) == .hangs || (plan.hasJournal && journal.condition == .hangs)
        guard !isHanging, isShared || processes[process].published == .unknown else { return }
        let noted = plan.hasJournal ? (try? journal.read().get())?.ordinal : nil
        let found = store.read(in: condition(for: process))
        send(process, .read(.order, found, ownerMayCall: false, noted: noted ?? .unknown))
    }

    // MARK: Writing

    /// Notes what ends, or then writes, or then removes the note.
    mutating func write(
        _ version: Int, _ content: StoreContent, _ index: Int, of process: Int, _ draws: inout RandomDraws
    ) {
        let job = processes[process].jobs[index]
        processes[process].jobs[index].since = now
        guard let journal = job.journal else { return note(version, content, index, of: process, &draws) }
        let outcome = job.outcome ?? store(content, of: process, &draws)
        if isUnsettled(content, outcome, process) {
            // After a note that did not come in time, the write is reported without a second wait.
            if job.outcome == nil, case .success = journal {
                processes[process].jobs[index].outcome = outcome
                return
            }
            settle(content, outcome, process, &draws)
        }
        if case .written = outcome, let bundle = content.bundle, !content.isAct { see(bundle, process, &draws) }
        if outcome.isFailure, case .success = journal { publish(content) }
        processes[process].jobs[index].event = .wrote(version: version, outcome)
    }

    /// What is decided is a follower's too, also where only the journal has it (G29).
    private mutating func publish(_ content: StoreContent) {
        guard plan.hasJournal, !plan.hasMirroredNames, let note = content.note(isShared: isShared) else { return }
        let end = SessionTombstone(
            session: content.bundle == nil ? content.session ?? SessionID(rawValue: "") : SessionID(rawValue: ""),
            reason: note.reason, date: note.date, upTo: note.ordinal)
        for index in followers.indices { followers[index].deliver(.tombstone(end)) }
    }

    private mutating func note(
        _ version: Int, _ content: StoreContent, _ index: Int, of process: Int, _ draws: inout RandomDraws
    ) {
        guard let note = content.note(isShared: isShared) else { return }
        let isSignIn = content.bundle != nil
        let isDropped = store.fault == .endingsAreNotNoted || (store.fault == .signInsAreNotNoted && isSignIn)
        var result = Result<SessionJournalEntry, TokenStoreError>.success(journal.entry)
        if !isDropped, !(processes[process].entry?.holds(note) ?? false) {
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
        guard plan.hasJournal, !outcome.isFailure else { return false }
        guard let entry = processes[process].entry else { return content.isAct }
        return content.settled(entry, outcome, in: Self.storeName, at: instant.date) != entry
    }

    private mutating func settle(
        _ content: StoreContent, _ outcome: WriteOutcome, _ process: Int, _ draws: inout RandomDraws
    ) {
        let (date, isFaulty) = (instant.date, store.fault == .everyNoteIsRemoved)
        _ = change(process, &draws) { entry in
            entry = content.settled(entry, outcome, in: Self.storeName, at: date)
            if isFaulty { entry.pending = nil }
        }
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
        let result = journal.read().map { entry in
            var entry = entry
            change(&entry)
            return entry
        }
        guard case .success(let entry) = result else { return result }
        if entry != journal.entry { reportChange(&draws) }
        journal.entry = entry
        processes[process].entry = entry
        return result
    }
}
