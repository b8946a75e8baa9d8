public import AuthInterface
import ConcurrencyPrimitives
public import ContractTesting

/// A journal in memory: each call waits and throws as scripted. Engines that have it share it, as processes do.
///
/// ```swift
/// let journal = MemorySessionJournal()
/// journal.fail()                       // every call throws
/// let gate = journal.hold()            // every call waits at the gate
/// #expect(journal.entry.pending.isEmpty)
/// ```
public final class MemorySessionJournal: SessionJournal {
    private struct State {
        var entry: SessionJournalEntry
        var error: TokenStoreError?
        var gate: Gate?
        var updates = 0
    }

    /// The name of the store.
    public let storeName: String

    private let state: Locked<State>

    /// Creates a journal.
    public init(holding entry: SessionJournalEntry = SessionJournalEntry(), storeName: String = "the store") {
        self.storeName = storeName
        state = Locked(State(entry: entry))
    }

    /// What is written. Reading it is no call.
    public var entry: SessionJournalEntry { state.withLock { $0.entry } }

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

    /// Removes the script.
    public func recover() { state.withLock { ($0.error, $0.gate) = (nil, nil) } }

    /// Reads what is written.
    public func read() async throws -> SessionJournalEntry {
        await state.withLock { $0.gate }?.pass()
        return try state.withLock { state in
            if let error = state.error { throw error }
            return state.entry
        }
    }

    /// Changes what is written, in one step.
    @discardableResult
    public func update(
        _ change: @escaping @Sendable (SessionJournalEntry) -> SessionJournalEntry
    ) async throws -> SessionJournalEntry {
        await state.withLock { $0.gate }?.pass()
        return try state.withLock { state in
            state.updates += 1
            if let error = state.error { throw error }
            state.entry = change(state.entry)
            return state.entry
        }
    }
}
