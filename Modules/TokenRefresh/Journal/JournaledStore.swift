import AuthInterface
import ConcurrencyPrimitives

/// A store with a journal beside it (G30). The engine reads and writes through it, and knows no journal.
///
/// **A write** that begins or ends sessions is noted first: *ends up to F, because R*. Then it is stored, and then the
/// note is removed, unless it reaches beyond F; with the same write a session that begins is noted as *seen*. A process
/// that is killed before the store has it leaves a note that the next read fulfils; one that is killed after it leaves
/// a note that has nothing left to end. So a sign-out, and a sign-in over a session, last although the store fails.
///
/// **A read** reads the journal before the store: tokens up to F end. Where the store is empty, the journal says why.
///
/// A journal that fails or hangs changes nothing, and is reported; but for the first read, which then counts as one of
/// a store that is unavailable. Each call waits for it for half of the store's limit at most.
final class JournaledStore: Sendable {
    private struct State {
        var isNotingSession = false
        /// Up to which ordinal this process has ended sessions: a read that began before shows them still.
        var endedOrdinal: SessionOrdinal?
    }

    let access: StoreAccess
    private let journal: JournalCalls?
    private let limit: Duration
    let clock: any TimeSource
    private let state = Locked(State())

    /// `storeLimit`: that of the store. `report`: called with each failure of the journal.
    init(
        _ access: StoreAccess, _ journal: (any SessionJournal)?, storeLimit: Duration, _ clock: any TimeSource,
        report: @escaping @Sendable (TokenStoreError) -> Void
    ) {
        (self.access, self.clock, limit) = (access, clock, storeLimit / 2)
        self.journal = journal.map { JournalCalls($0, within: storeLimit / 2, clock, report: report) }
    }

    /// The last failure of the journal; `nil`: its last call has succeeded.
    var failure: TokenStoreError? { journal?.failure }

    /// Whether an end is noted that the store is not known to have taken.
    var isEnding: Bool { journal?.entry?.pending != nil }

    // MARK: Reading

    /// What a sign-in must come after, of the store and of the journal, within half of the store's limit.
    func readOrder() async -> StoreReading {
        async let journaled = journal?.read()
        let stored = try? await clock.withDeadline(clock.uptime + limit) { [access] in await access.read() }
        return StoreReading(
            result: stored ?? .failure(.noResponse(within: limit)), noted: try? await journaled?.get().ordinal)
    }

    /// Reads the journal and then the store. `isFirst`: nothing is restored where the journal cannot be read.
    func read(isFirst: Bool) async -> StoreReading {
        guard let journaled = await journal?.read() else { return StoreReading(result: await access.read()) }
        if isFirst, case .failure(let error) = journaled {
            let reason = "the journal of the store cannot be read: \(error.reason)"
            return StoreReading(result: .failure(TokenStoreError(.unavailable, reason: reason, cause: error)))
        }
        let entry = try? journaled.get()
        var reading = StoreReading(result: await access.read(), noted: entry?.ordinal)
        guard let entry else { return reading }
        switch reading.result {
        case .success(.active(let bundle)):
            reading.ending = entry.ending(of: bundle)
            if let reason = reading.ending {
                publish(bundle.ended(reason, at: clock.date))
            } else {
                noteSession(bundle)
            }
        case .success(.empty): (reading.result, reading.ending) = await reason(ofNothing: entry, isFirst)
        case .success(.tombstone), .failure: break
        }
        return reading
    }

    /// Why the store holds nothing. A session that was seen is lost only where a second read finds nothing either.
    private func reason(
        ofNothing entry: SessionJournalEntry, _ isFirst: Bool
    ) async -> (StoreResult, SignOutReason?) {
        if let reason = entry.pending?.reason ?? entry.former.last?.reason { return (.success(.empty), reason) }
        guard let seen = entry.seen, seen.isRecent(at: clock.date) else { return (.success(.empty), nil) }
        let again = await access.read()
        guard case .success(.empty) = again else { return (again, nil) }
        if isFirst {
            publish(SessionTombstone(session: seen.session, reason: .lost(seen), date: clock.date, upTo: seen.place))
        }
        return (again, .lost(seen))
    }

    // MARK: Writing

    /// Notes what ends, writes, and removes the note. `noted` is called once the journal has taken what ends.
    func write(_ content: StoreContent, noted: () -> Void) async -> WriteOutcome {
        let note = content.note(isShared: access.shared != nil)
        let isNoted = await take(note, ofSignIn: content.bundle != nil)
        if isNoted { noted() }
        var outcome = await access.write(content)
        // Tokens that the write has found, and that are to end, count as their end.
        if let found = outcome.found, let reason = journal?.entry?.ending(of: found) {
            outcome = .superseded(by: .tombstone(found.ended(reason, at: clock.date)))
        }
        if case .failed = outcome {
            // What is decided is published, also where the store refuses it (G29).
            if let note {
                let session = (content.bundle == nil ? content.session : nil) ?? SessionID(rawValue: "")
                publish(SessionTombstone(session: session, reason: note.reason, date: note.date, upTo: note.ordinal))
            }
            return outcome
        }
        guard let journal else { return outcome }
        let settle: @Sendable (SessionJournalEntry) -> SessionJournalEntry = { [outcome, date = clock.date] in
            content.settled($0, outcome, in: journal.storeName, at: date)
        }
        if content.bundle == nil, let note { state.withLock { $0.endedOrdinal = note.ordinal } }
        if journal.entry.map({ settle($0) != $0 }) ?? content.isAct {
            let settling = journal.change(replacingDamaged: content.bundle != nil) { $0 = settle($0) }
            // A journal that hangs is not waited for twice.
            if isNoted || note == nil { _ = await settling.value() }
        }
        if case .written = outcome, let bundle = content.bundle, !content.isAct { noteSession(bundle) }
        return outcome
    }

    /// Returns whether the journal holds a note.
    private func take(_ note: PendingSignOut?, ofSignIn isSignIn: Bool) async -> Bool {
        guard let note, let journal else { return false }
        if journal.entry?.holds(note) ?? false { return true }
        if case .success = await journal.change(replacingDamaged: isSignIn, { $0.note(note) }).value() { return true }
        return false
    }

    private func publish(_ ending: SessionTombstone) { (access.store as? any SessionPublishing)?.publish(ending) }

    /// Notes that a session is in the store, unless that is noted. Nothing waits for it.
    private func noteSession(_ bundle: TokenBundle) {
        guard let journal else { return }
        let date = clock.date
        let isMissing = state.withLock { state in
            guard !state.isNotingSession, journal.entry?.lacks(bundle, at: date) ?? false,
                state.endedOrdinal.map({ bundle.ordinal > $0 }) ?? true
            else { return false }
            state.isNotingSession = true
            return true
        }
        guard isMissing else { return }
        let noting = journal.change(replacingDamaged: false) { $0.see(bundle, in: journal.storeName, at: date) }
        Task.detached { [self] in
            _ = await noting.value()
            state.withLock { $0.isNotingSession = false }
        }
    }

    /// Waits until no call of the journal is under way.
    func settle() async { await journal?.settle() }

    // MARK: Changes

    /// The changes of a shared store and of the journal. The stream ends with that of the store; a journal that cannot
    /// report changes is looked at again and again.
    var changes: AsyncStream<Void> {
        guard let shared = access.shared else { return AsyncStream { $0.finish() } }
        guard let journal else { return shared.changes }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (ofStore, ofJournal) = (shared.changes, journal.changes)
        let second = Task.detached { [clock] in
            for await _ in ofJournal { continuation.yield() }
            while (try? await clock.sleep(until: clock.uptime + TokenRefreshCoordinator.polling.limit)) != nil {
                continuation.yield()
                for await _ in journal.changes { continuation.yield() }
            }
        }
        let first = Task.detached {
            for await _ in ofStore { continuation.yield() }
            continuation.finish()
        }
        continuation.onTermination = { _ in
            first.cancel()
            second.cancel()
        }
        return stream
    }
}
