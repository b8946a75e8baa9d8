import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// What a read shows: the store, and the journal beside it.
struct StoreReading: Sendable {
    var result: Result<StoredSession, TokenStoreError>
    /// Why the tokens in the store are to end, or why it holds nothing.
    var ending: SignOutReason?
    /// The highest ordinal that the journal names.
    var noted: SessionOrdinal?
}

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
        /// What the journal held last. `nil`: not known.
        var entry: SessionJournalEntry?
        var failure: TokenStoreError?
        /// The last call of the journal. Each one waits for the one before it, however long that hangs (G26).
        var last: Task<Void, Never>?
        /// The numbers of the calls that began, that ended, and that missed their limit last.
        var begun = 0
        var ended = 0
        var late = 0
        var isNotingSession = false
        /// Up to which ordinal this process has ended sessions: a read that began before shows them still.
        var endedOrdinal: SessionOrdinal?
    }

    typealias JournalResult = Result<SessionJournalEntry, TokenStoreError>

    let access: StoreAccess
    private let journal: (any SessionJournal)?
    private let limit: Duration
    let clock: any TimeSource
    private let report: @Sendable (TokenStoreError) -> Void
    private let state = Locked(State())

    /// `storeLimit`: that of the store. `report`: called with each failure of the journal.
    init(
        _ access: StoreAccess, _ journal: (any SessionJournal)?, storeLimit: Duration, _ clock: any TimeSource,
        report: @escaping @Sendable (TokenStoreError) -> Void
    ) {
        (self.access, self.journal, self.clock, self.report) = (access, journal, clock, report)
        limit = storeLimit / 2
    }

    /// The last failure of the journal; `nil`: its last call has succeeded.
    var failure: TokenStoreError? { state.withLock { $0.failure } }

    /// Whether an end is noted that the store is not known to have taken.
    var isEnding: Bool { state.withLock { $0.entry?.pending != nil } }

    // MARK: Reading

    /// What a sign-in must come after, within half of the store's limit: neither the store nor the journal hides the
    /// other.
    func readOrder() async -> StoreReading {
        async let journaled = begin { try await $0.read() }.value()
        let stored = try? await clock.withDeadline(clock.uptime + limit) { [access] in await access.read() }
        return StoreReading(
            result: stored ?? .failure(.noResponse(within: limit)), noted: try? await journaled.get().ordinal)
    }

    /// Reads the journal and then the store. `isFirst`: nothing is restored where the journal cannot be read.
    func read(isFirst: Bool) async -> StoreReading {
        let journaled = await begin { try await $0.read() }.value()
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
    ) async -> (Result<StoredSession, TokenStoreError>, SignOutReason?) {
        if let reason = entry.pending?.reason ?? entry.former.last?.reason { return (.success(.empty), reason) }
        guard let seen = entry.seen, seen.isRecent(at: clock.date) else { return (.success(.empty), nil) }
        let again = await access.read()
        guard case .success(.empty) = again else { return (again, nil) }
        if isFirst {
            publish(
                SessionTombstone(
                    session: seen.session, reason: .lost(seen), date: clock.date, upTo: seen.place))
        }
        return (again, .lost(seen))
    }

    // MARK: Writing

    /// Notes what ends, writes, and removes the note. `noted` is called once the journal has taken what ends.
    func write(_ content: StoreContent, noted: () -> Void) async -> WriteOutcome {
        let note = content.note(isShared: access.shared != nil)
        let isNoted = await take(note, ofSignIn: content.bundle != nil)
        if isNoted { noted() }
        let outcome = withEnd(of: await access.write(content))
        if case .failed = outcome {
            if let note { publish(note, of: content.bundle == nil ? content.session : nil) }
            return outcome
        }
        guard let journal else { return outcome }
        let settle: @Sendable (SessionJournalEntry) -> SessionJournalEntry = { [date = clock.date] in
            content.settled($0, outcome, in: journal.storeName, at: date)
        }
        let mustSettle = state.withLock { state in
            if content.bundle == nil, let note { state.endedOrdinal = note.ordinal }
            return state.entry.map { settle($0) != $0 } ?? content.isAct
        }
        if mustSettle {
            let settling = change(replacingDamaged: content.bundle != nil) { $0 = settle($0) }
            // A journal that hangs is not waited for twice.
            if isNoted || note == nil { _ = await settling.value() }
        }
        if case .written = outcome, let bundle = content.bundle, !content.isAct { noteSession(bundle) }
        return outcome
    }

    /// Tokens that a write has found, and that are to end, count as their end.
    private func withEnd(of outcome: WriteOutcome) -> WriteOutcome {
        guard case .superseded(by: .active(let found)) = outcome,
            let reason = state.withLock({ $0.entry?.ending(of: found) })
        else { return outcome }
        return .superseded(by: .tombstone(found.ended(reason, at: clock.date)))
    }

    /// Returns whether the journal holds a note.
    private func take(_ note: PendingSignOut?, ofSignIn isSignIn: Bool) async -> Bool {
        guard let note, journal != nil else { return false }
        if state.withLock({ $0.entry?.holds(note) ?? false }) { return true }
        if case .success = await change(replacingDamaged: isSignIn, { $0.note(note) }).value() { return true }
        return false
    }

    /// What is decided is published, also where the store refuses it (G29).
    private func publish(_ note: PendingSignOut, of session: SessionID?) {
        let session = session ?? SessionID(rawValue: "")
        publish(SessionTombstone(session: session, reason: note.reason, date: note.date, upTo: note.ordinal))
    }

    private func publish(_ ending: SessionTombstone) { (access.store as? any SessionPublishing)?.publish(ending) }

    /// Notes that a session is in the store, unless that is noted. Nothing waits for it.
    private func noteSession(_ bundle: TokenBundle) {
        let date = clock.date
        let isMissing = state.withLock { state in
            guard !state.isNotingSession, state.entry?.lacks(bundle, at: date) ?? false,
                state.endedOrdinal.map({ bundle.ordinal > $0 }) ?? true
            else { return false }
            state.isNotingSession = true
            return true
        }
        guard isMissing, let journal else { return }
        let noting = change(replacingDamaged: false) { $0.see(bundle, in: journal.storeName, at: date) }
        Task.detached { [self] in
            _ = await noting.value()
            state.withLock { $0.isNotingSession = false }
        }
    }

    // MARK: The journal

    /// Changes the journal in one step. `replacingDamaged`: a sign-in replaces one that cannot be read.
    private func change(
        replacingDamaged: Bool, _ change: @escaping @Sendable (inout SessionJournalEntry) -> Void
    ) -> Race<JournalResult> {
        begin { journal in
            try await journal.update { found in
                guard var entry = (try? found.get()) ?? (replacingDamaged ? SessionJournalEntry() : nil) else {
                    return nil
                }
                change(&entry)
                return entry
            }
        }
    }

    /// Calls the journal once the call before has ended. A call that does not get its turn within the limit is not
    /// made, and while one has missed its limit, no other one waits.
    private func begin(
        _ work: @escaping @Sendable (any SessionJournal) async throws -> SessionJournalEntry
    ) -> Race<JournalResult> {
        let race = Race<JournalResult>()
        guard let journal else {
            race.end(.success(SessionJournalEntry()))
            return race
        }
        let due = clock.uptime + limit
        state.withLock { state in
            guard state.late <= state.ended else {
                race.end(.failure(late))
                return
            }
            state.begun += 1
            let (number, earlier) = (state.begun, state.last)
            let timer = Task.detached { [self] in
                guard (try? await clock.sleep(until: due)) != nil else { return }
                let isLate = self.state.withLock { state in
                    if state.ended < number { state.late = max(state.late, number) }
                    return state.ended < number
                }
                if isLate { end(race, .failure(late)) }
            }
            state.last = Task.detached { [self] in
                await earlier?.value
                defer {
                    timer.cancel()
                    self.state.withLock { $0.ended = number }
                }
                guard self.state.withLock({ $0.late < number }) else { return }
                do {
                    end(race, .success(try await work(journal)))
                } catch {
                    end(race, .failure(.wrapping(error, of: "journal")))
                }
            }
        }
        return race
    }

    private var late: TokenStoreError {
        TokenStoreError(.unavailable, reason: "the journal has not responded within \(limit.inWords)")
    }

    /// A call has ended, or is late. What it says counts also where no caller waits for it any more.
    private func end(_ race: Race<JournalResult>, _ result: JournalResult) {
        state.withLock { state in
            switch result {
            case .success(let entry): (state.entry, state.failure) = (entry, nil)
            case .failure(let error): state.failure = error
            }
        }
        if race.end(result), case .failure(let error) = result { report(error) }
    }

    /// Waits until no call of the journal is under way.
    func settle() async {
        while let last = state.withLock({ $0.begun > $0.ended ? $0.last : nil }) { await last.value }
    }

    // MARK: Changes

    /// The changes of a shared store and of the journal. The stream ends with that of the store.
    var changes: AsyncStream<Void> {
        guard let shared = access.shared else { return AsyncStream { $0.finish() } }
        guard let journal else { return shared.changes }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (ofStore, ofJournal) = (shared.changes, journal.changes)
        let second = Task.detached { for await _ in ofJournal { continuation.yield() } }
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
