public import AuthInterface
import ConcurrencyPrimitives
public import ContractTesting

/// A journal in memory: each call waits and throws as scripted. Engines that have it share it, as processes do.
///
/// ```swift
/// let journal = MemorySessionJournal()
/// journal.fail()                       // every call throws
/// let gate = journal.hold()            // every call waits at the gate
/// journal.damage()                     // what is written cannot be read, until an update replaces it
/// #expect(journal.entry.pending == nil)
/// ```
public final class MemorySessionJournal: SessionJournal {
    private struct State {
        var content: Result<SessionJournalEntry, TokenStoreError>
        var error: TokenStoreError?
        var gate: Gate?
        var updates = 0
    }

    /// The name of the store.
    public let storeName = "the store"

    private let state: Locked<State>
    private let broadcast = Broadcast<Void>()

    /// Creates a journal.
    public init(holding entry: SessionJournalEntry = SessionJournalEntry()) {
        state = Locked(State(content: .success(entry)))
    }

    /// What is written; an empty entry where that is damaged. Reading it is no call.
    public var entry: SessionJournalEntry { state.withLock { (try? $0.content.get()) ?? SessionJournalEntry() } }

    /// How many updates have been made, failed ones included.
    public var updates: Int { state.withLock { $0.updates } }

    /// Makes every call fail, until ``recover()``.
    public func fail(with error: TokenStoreError = TokenStoreError(.unavailable, reason: "scripted")) {
        state.withLock { $0.error = error }
    }

    /// Makes every call wait at a gate, which it returns. The wait ignores cancellation, as a hanging disk does.
    @discardableResult
    public func hold(at gate: Gate = Gate()) -> Gate {
        state.withLock { $0.gate = gate }
        return gate
    }

    /// Removes the script. What is damaged stays so.
    public func recover() { state.withLock { ($0.error, $0.gate) = (nil, nil) } }

    /// Damages what is written: a read throws `corrupt` until an update has replaced it.
    public func damage() { state.withLock { $0.content = .failure(TokenStoreError(.corrupt, reason: "damaged")) } }

    /// Reads what is written.
    public func read() async throws -> SessionJournalEntry {
        await state.withLock { $0.gate }?.pass()
        return try state.withLock { state in
            if let error = state.error { throw error }
            return try state.content.get()
        }
    }

    /// Changes what is written, in one step.
    @discardableResult
    public func update(
        _ change: @escaping @Sendable (Result<SessionJournalEntry, TokenStoreError>) -> SessionJournalEntry?
    ) async throws -> SessionJournalEntry {
        await state.withLock { $0.gate }?.pass()
        let (entry, isChanged) = try state.withLock { state in
            state.updates += 1
            if let error = state.error { throw error }
            let old = state.content
            if let new = change(old) { state.content = .success(new) }
            return (try state.content.get(), state.content != old)
        }
        if isChanged { broadcast.send(()) }
        return entry
    }

    /// A stream that reports every change of what is written.
    public var changes: AsyncStream<Void> { broadcast.stream() }
}
