import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The journal (G30).
///
/// **The order of the writes.** The end of a session is noted in the journal first, then stored, then removed from the
/// journal. A process that is killed before the store has it leaves a note that the next start completes; one that is
/// killed after it leaves a tombstone, or nothing, beside a note with the same reason. A session that starts is stored
/// first and noted then: a note never speaks of a session that was not in the store. So a note without tokens and
/// without a tombstone means that the tokens have vanished. Before it is stored, the sign-outs that wait for the first
/// read are told not to mean it. Dates could not tell, as a clock may be set in between; and the sign-outs stay until
/// the store has taken what replaces the session that they mean.
///
/// **The order of the reads.** The first read of the store follows a read of the journal. What the journal said of a
/// session before the store held another one is over; the other way around the session may have come in between. A
/// shared store may also be taking it still, for another process.
extension MachineState {
    /// Reads the store for the first time, after the journal where there is one.
    mutating func readFirst() {
        guard context.hasJournal else { return context.emit(.read(.load)) }
        context.awaitJournal()
    }

    mutating func journalRead(_ result: Result<SessionJournalEntry, TokenStoreError>) {
        context.journal.read(result)
        report(result)
        if context.journal.isAwaited {
            context.journal.isReadInTime = (try? result.get()) != nil
            context.endJournalWait()
        }
        suspectMayBeKnown(result)
        followJournal()
    }

    mutating func journalWrote(_ result: Result<SessionJournalEntry, TokenStoreError>) {
        let hasMore = context.journal.wrote(result)
        report(result)
        if hasMore { context.writeJournal() } else { releaseStore() }
        followJournal()
    }

    /// A journal that hangs counts as unavailable. What it returns later is used.
    mutating func journalTookTooLong() {
        let limit = context.journalLimit.inWords
        let error = TokenStoreError(.unavailable, reason: "the journal has not responded within \(limit)")
        context.emit(.report(.journalFailed(error)))
        if context.journal.isAwaited { context.endJournalWait() }
        releaseStore()
    }

    private mutating func report(_ result: Result<SessionJournalEntry, TokenStoreError>) {
        if case .failure(let error) = result { context.emit(.report(.journalFailed(error))) }
    }

    /// The store takes what has waited for its note.
    private mutating func releaseStore() {
        context.releaseStore()
        respondToNotedSignOuts()
    }

    /// Responds to the sign-outs that have waited for the journal, and for no write of the store.
    mutating func respondToNotedSignOuts() {
        if case .unknown(var restoring) = state {
            guard let error = restoring.heldFailure else { return }
            restoring.heldFailure = nil
            state = .unknown(restoring)
            failEarlySignOuts(error)
        } else if !context.journal.holdsStore {
            let unknown = TokenStoreError(.unavailable, reason: "the journal has not responded")
            let error = context.journal.failure ?? unknown
            for waiter in context.room.take(.earlySignOut) { context.emit(context.response(waiter, toSignOut: error)) }
        }
    }

    /// Another process has noted the end of the session in use, and could not store it.
    private mutating func followJournal() {
        guard case .signedIn(let session) = state else { return }
        let id = session.bundle.session
        guard let pending = context.journal.entry?.pending.first(where: { $0.sessions.contains(id) }) else { return }
        // The tokens of an expired session are not valid any more.
        end(pending.reason, revoking: pending.reason.isExpired ? nil : session.newestBundle, inStore: false)
    }

    /// The session is noted once the store has it, after a read or a write: never when one of its tokens is used.
    mutating func noteSession() {
        guard context.hasJournal, case .signedIn(let session) = state, !session.isActivating,
            session.isStored && !context.store.isBehind
        else { return }
        let id = session.bundle.session
        guard context.journal.lacksSighting(of: id, at: context.now.date) else { return }
        context.note(.seen(id, at: context.now.date))
    }

    // MARK: What the first read finds

    /// The sign-out that ends a session of the store, of this process or of the journal.
    func pendingEnd(of bundle: TokenBundle) -> PendingSignOut? {
        context.hasJournal ? context.journal.pendingEnd(of: bundle, foundAt: context.now.date) : nil
    }

    /// Whether a session that the store holds ends by its date alone: by a sign-out that waits for the first read.
    /// The journal may have been read before another process has stored the session, and so before it has said that
    /// such a sign-out spares it: it is read once more.
    func isSuspect(_ bundle: TokenBundle, _ earlySignOut: SignOut? = nil) -> Bool {
        guard context.hasJournal, context.settings.isShared else { return false }
        if let earlySignOut, !isSignIn(bundle, after: earlySignOut) { return true }
        return pendingEnd(of: bundle).map { !$0.sessions.contains(bundle.session) } ?? false
    }

    /// Reads the journal, and then the store again. A read under way may have started before the store was read.
    mutating func readJournalAgain(for bundle: TokenBundle) {
        if check.awaitedReads > 0, check.suspect == bundle.session { return }
        check.suspect = bundle.session
        check.awaitedReads = context.journal.startReading() ? 1 : 2
        if check.awaitedReads == 1 { context.emit(.readJournal) }
    }

    /// A journal that cannot be read ends nothing: the session stays where it is.
    private mutating func suspectMayBeKnown(_ result: Result<SessionJournalEntry, TokenStoreError>) {
        guard check.awaitedReads > 0 else { return }
        check.awaitedReads -= 1
        if check.awaitedReads > 0 {
            if context.journal.startReading() { context.emit(.readJournal) }
        } else if case .success = result {
            storeChanged()
        } else {
            check.suspect = nil
        }
    }

    /// Ends a session that the store holds. It was never in use here.
    mutating func endFound(_ bundle: TokenBundle, _ reason: SignOutReason, by pending: PendingSignOut? = nil) {
        use(stored: bundle)
        // The end is noted by the name of the session, with the same write.
        if let pending, !pending.sessions.contains(bundle.session) {
            context.noteLater(.over(SessionJournalEntry(pending: [pending])))
        }
        end(reason, revoking: reason.isExpired ? nil : bundle, inStore: false)
    }

    /// The store was read: the sign-outs of sessions that it does not hold are over. They stay where an empty store may
    /// get its content again, and where a shared one may be taking the session still: the process that has signed in
    /// and out removes its note itself.
    mutating func settleJournal(_ found: StoredSession) {
        guard context.hasJournal, context.journal.isReadInTime, var entry = context.journal.entry else { return }
        let (now, isShared) = (context.now.date, context.settings.isShared)
        switch found {
        case .empty: return
        case .tombstone: break
        case .active(let bundle):
            entry.seen = nil
            entry.pending.removeAll { $0.ends(bundle, foundAt: now) }
        }
        if isShared { entry.pending.removeAll { $0.mayBeUnderWay(at: now) } }
        context.note(.over(entry))
    }

    /// Why no session is in a store that holds nothing.
    var reasonOfEmptyStore: SignOutReason {
        guard context.hasJournal, context.journal.isReadInTime, let entry = context.journal.entry else { return .never }
        let ending = entry.pending.last
        if let seen = entry.seen, ending.map({ seen.isAnother(than: $0, foundAt: context.now.date) }) ?? true {
            return .lost(seen)
        }
        return ending?.reason ?? .never
    }
}

extension MachineContext {
    /// How long the first read of the store, the beginning or the end of a session waits for the journal: half of the
    /// limit of the store, so that both fit the limit.
    var journalLimit: Duration { policy.storeLimit / 2 }

    // MARK: Reading

    mutating func awaitJournal() {
        journal.isAwaited = true
        journal.isReadInTime = false
        // What waits already for a note waits no longer for a read.
        if !journal.holdsStore { emit(.startTimer(.journalDeadline, at: now.uptime + journalLimit)) }
        if journal.startReading() { emit(.readJournal) }
    }

    /// The first read of the store waits no longer.
    mutating func endJournalWait() {
        journal.isAwaited = false
        stopJournalTimer()
        emit(.read(.load))
    }

    private mutating func stopJournalTimer() {
        if !journal.isAwaited, !journal.holdsStore { emit(.stopTimer(.journalDeadline)) }
    }

    // MARK: Writing

    /// Adds a note, and writes it as soon as no other write is under way.
    mutating func note(_ note: JournalEdit.Note) {
        guard hasJournal, journal.want(note) else { return }
        writeJournal()
    }

    /// Adds a note, which the next write takes with it.
    mutating func noteLater(_ note: JournalEdit.Note) {
        if hasJournal { _ = journal.want(note) }
    }

    mutating func writeJournal() {
        guard hasJournal, let edit = journal.next() else { return }
        emit(.writeJournal(dated(edit)))
    }

    /// A sign-in is spared by its date, as long as the clock of its date was not set.
    private func dated(_ edit: JournalEdit) -> JournalEdit {
        var edit = edit
        edit.notes.removeAll { note in
            guard case .sparing(_, let begun) = note else { return false }
            return !moment.isSteady(since: begun, within: Moment.clockTolerance)
        }
        return edit
    }

    /// Adds a note for which the store, or the caller of a sign-out, waits.
    mutating func noteFirst(_ note: JournalEdit.Note) {
        guard hasJournal, journal.want(note) else { return }
        // What waits already waits no longer for a later note.
        if !journal.holdsStore { emit(.startTimer(.journalDeadline, at: now.uptime + journalLimit)) }
        journal.holdsStore = true
        writeJournal()
    }

    /// The end of a session is about to be stored. A session that the server has rejected is not noted as ending: its
    /// newer tokens may be those of another process (G13). Where a store is not shared, and so keeps no tombstone,
    /// the sighting goes first.
    mutating func noteEnding(_ reason: SignOutReason, at date: Date, of scope: EndScope) {
        switch scope {
        case .rejected: if !settings.isShared { noteFirst(.ended(scope.sessions)) }
        case .sessions: noteFirst(.ending(PendingSignOut(sessions: scope.sessions, reason: reason, date: date)))
        case .unread:
            noteFirst(.ending(PendingSignOut(sessions: [], includesUnread: true, reason: reason, date: date)))
        }
    }

    mutating func releaseStore() {
        guard hasJournal, journal.holdsStore else { return }
        journal.holdsStore = false
        stopJournalTimer()
        beginWriting()
    }

    /// A write of the store has ended. One that failed is an occasion to try the journal again.
    mutating func noteWritten(_ content: StoreContent?, _ outcome: WriteOutcome) {
        guard hasJournal else { return }
        switch (content, outcome) {
        case (_, .failed), (nil, _): writeJournal()
        case (.tombstone(_, _, .rejected)?, .superseded(.active)): break
        case (.tombstone(_, _, let scope)?, _):
            var ended = scope.sessions
            // A store that is not shared holds nothing any more, also of a session that was never read.
            if !settings.isShared, let seen = journal.entry?.seen { ended.insert(seen.session) }
            note(.ended(ended))
            if case .unread = scope { note(.fulfilled) }
        case (.bundle(let bundle, over: .anything(let left))?, _),
            (.bundle(let bundle, over: .begunBefore(_, let left))?, _):
            let left = left.subtracting([bundle.session])
            noteLater(.replaced(by: bundle.session))
            if !left.isEmpty { note(.ended(left)) }
        case (.bundle?, _): break
        }
    }

    /// The response to a sign-out that the store did not take. It lasts if the journal has it.
    func response(_ waiter: Waiter, toSignOut error: TokenStoreError, retryAfter: Duration? = nil) -> RefreshAction {
        .respond(waiter.id, response(toSignOut: error, retryAfter: retryAfter))
    }

    func response(toSignOut error: TokenStoreError, retryAfter: Duration? = nil) -> RefreshResponse {
        guard hasJournal else {
            return .failed(AuthenticationError(.storeUnavailable, retryAfter: retryAfter, cause: error))
        }
        if journal.hasNotedEndings { return .done }
        return .failed(AuthenticationError(.signOutNotStored, retryAfter: retryAfter, cause: error))
    }
}
