import AuthInterface
import ConcurrencyPrimitives

/// The calls of a journal, one after the other. None is waited for beyond a limit, and while one has missed its limit,
/// no other one is made (G26).
final class JournalCalls: Sendable {
    typealias Outcome = Result<SessionJournalEntry, TokenStoreError>

    private struct State {
        /// What the journal held last. `nil`: not known.
        var entry: SessionJournalEntry?
        var failure: TokenStoreError?
        /// The last call. Each one waits for the one before it, however long that hangs.
        var last: Task<Void, Never>?
        /// The calls that have not ended. One with an outcome has missed its limit.
        var underWay: [Race<Outcome>] = []
    }

    private let journal: any SessionJournal
    private let limit: Duration
    private let clock: any TimeSource
    private let report: @Sendable (TokenStoreError) -> Void
    private let state = Locked(State())

    /// `report`: called with each failure.
    init(
        _ journal: any SessionJournal, within limit: Duration, _ clock: any TimeSource,
        report: @escaping @Sendable (TokenStoreError) -> Void
    ) {
        (self.journal, self.limit, self.clock, self.report) = (journal, limit, clock, report)
    }

    /// The name of the store beside it, and its changes.
    var storeName: String { journal.storeName }
    var changes: AsyncStream<Void> { journal.changes }

    /// What the journal held last. `nil`: not known.
    var entry: SessionJournalEntry? { state.withLock { $0.entry } }

    /// The last failure; `nil`: the last call has succeeded.
    var failure: TokenStoreError? { state.withLock { $0.failure } }

    func read() async -> Outcome { await begin { try await $0.read() }.value() }

    /// Changes the journal in one step. `replacingDamaged`: a sign-in replaces one that cannot be read.
    func change(
        replacingDamaged: Bool, _ change: @escaping @Sendable (inout SessionJournalEntry) -> Void
    ) -> Race<Outcome> {
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

    /// Calls the journal once the call before has ended. A call that does not get its turn in time is not made.
    private func begin(
        _ work: @escaping @Sendable (any SessionJournal) async throws -> SessionJournalEntry
    ) -> Race<Outcome> {
        let race = Race<Outcome>()
        let due = clock.uptime + limit
        state.withLock { state in
            guard state.underWay.allSatisfy({ $0.outcome == nil }) else {
                race.end(.failure(late))
                return
            }
            state.underWay.append(race)
            let timer = Task.detached { [self] in
                guard (try? await clock.sleep(until: due)) != nil, race.outcome == nil else { return }
                end(race, .failure(late))
            }
            state.last = Task.detached { [self, earlier = state.last] in
                await earlier?.value
                let call = race.outcome == nil ? Task { try await work(journal) } : nil
                let result = await call?.result.mapError { TokenStoreError.wrapping($0, of: "journal") }
                timer.cancel()
                // The next call that its caller makes finds that this one has ended.
                self.state.withLock { _ = $0.underWay.removeFirst() }
                if let result { end(race, result) }
            }
        }
        return race
    }

    private var late: TokenStoreError {
        TokenStoreError(.unavailable, reason: "the journal has not responded within \(limit.inWords)")
    }

    /// A call has ended, or is late. What it says counts also where no caller waits for it any more.
    private func end(_ race: Race<Outcome>, _ result: Outcome) {
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
        while let last = state.withLock({ $0.underWay.isEmpty ? nil : $0.last }) { await last.value }
    }
}
