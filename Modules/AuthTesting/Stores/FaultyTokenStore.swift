public import AuthInterface
import ConcurrencyPrimitives

/// A store that fails and hangs on demand, over one that works.
///
/// ```swift
/// let store = FaultyTokenStore(RecordingTokenStore(holding: bundle))
/// store.fail(.save, times: 2)             // the next two saves throw
/// store.hold(.load, at: gate)             // every load waits at the gate
/// #expect(store.calls(.save) == 3)
/// ```
/// A call is counted, then waits at its gate, then fails if it must, and only then reaches the store underneath. If
/// that one is shared, so is this one, and the calls of a lease count, wait and fail like all others.
public final class FaultyTokenStore<Base: TokenStore>: TokenStore {
    /// The store underneath.
    public let base: Base

    private let faults = StoreFaults()

    /// Creates a store that does what another does, until told otherwise.
    ///
    /// - Parameter base: The store underneath.
    public init(_ base: Base) {
        self.base = base
    }

    /// Makes the next calls of an operation fail. They do not reach the store underneath.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - count: How many calls fail; `nil` means all until ``recover(_:)``.
    ///   - error: What they throw.
    public func fail(
        _ operation: StoreOperation,
        times count: Int? = nil,
        with error: any Error = TokenStoreError(.unavailable, reason: "scripted")
    ) {
        faults.fail(operation, times: count ?? .max, with: error)
    }

    /// Makes every call of an operation wait at a gate: by default before it does anything, else with its answer in
    /// its hands. Waiting does not end with the task, as on a hanging disk.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - gate: The gate. Its arrivals tell how many calls have come to it.
    ///   - moment: When the calls wait.
    public func hold(_ operation: StoreOperation, at gate: Gate, _ moment: StoreMoment = .before) {
        faults.hold(operation, at: gate, moment)
    }

    /// Forgets what was scripted for an operation.
    ///
    /// - Parameter operation: The operation.
    public func recover(_ operation: StoreOperation) {
        faults.recover(operation)
    }

    /// How many calls of an operation have been made, failed ones included.
    ///
    /// - Parameter operation: The operation.
    /// - Returns: The number of calls.
    public func calls(_ operation: StoreOperation) -> Int {
        faults.calls(operation)
    }

    /// Reads from the store underneath, if nothing else was scripted.
    ///
    /// - Returns: What the store underneath answers.
    /// - Throws: What was scripted, or what the store underneath throws.
    public func load() async throws -> TokenBundle? {
        try await faults.perform(.load) { try await base.load() }
    }

    /// Writes to the store underneath, if nothing else was scripted.
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: What was scripted, or what the store underneath throws.
    public func save(_ bundle: TokenBundle) async throws {
        try await faults.perform(bundle.pendingRefresh == nil ? .save : .record) { try await base.save(bundle) }
    }

    /// Deletes from the store underneath, if nothing else was scripted.
    ///
    /// - Throws: What was scripted, or what the store underneath throws.
    public func delete() async throws {
        try await faults.perform(.delete) { try await base.delete() }
    }
}

extension FaultyTokenStore: SharedTokenStore where Base: SharedTokenStore {
    /// Reads from the store underneath, if nothing else was scripted for ``StoreOperation/load``.
    ///
    /// - Returns: What is stored underneath.
    /// - Throws: What was scripted, or what the store underneath throws.
    public func read() async throws -> StoredSession {
        try await faults.perform(.load) { try await base.read() }
    }

    /// Writes to the store underneath, if nothing else was scripted for what the change would write to an empty store:
    /// ``StoreOperation/save``, ``StoreOperation/record`` or ``StoreOperation/delete``.
    ///
    /// - Parameter change: Decides what to store.
    /// - Throws: What was scripted, or what the store underneath throws.
    public func update(
        _ change: @escaping @Sendable (Result<StoredSession, TokenStoreError>) -> StoredSession?
    ) async throws {
        let operation: StoreOperation =
            switch change(.success(.empty)) {
            case .active(let bundle): bundle.pendingRefresh == nil ? .save : .record
            case .ended, .empty: .delete
            case nil: .save
            }
        try await faults.perform(operation) { try await base.update(change) }
    }

    /// What the store underneath reports.
    public var changes: AsyncStream<Void> { base.changes }

    /// Takes the store underneath, if nothing else was scripted.
    ///
    /// - Parameter limit: How long to wait at most, once past the gate.
    /// - Returns: The lease. Its calls count, wait and fail like those of the store.
    /// - Throws: What was scripted, or what the store underneath throws.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        let lease = try await faults.perform(.lease) { try await base.lease(waitingAtMost: limit) }
        return FaultyLease(base: lease, faults: faults)
    }
}

/// What can be asked of a store.
public enum StoreOperation: Sendable, Hashable, CaseIterable {
    /// ``TokenStore/load()`` and ``SharedTokenStore/read()``
    case load
    /// ``TokenStore/save(_:)``, and a ``SharedTokenStore/update(_:)`` that does the same
    case save
    /// A save of a bundle whose refresh is about to be made
    case record
    /// ``TokenStore/delete()``, and an update that stores the note of an ended session
    case delete
    /// ``SharedTokenStore/lease(waitingAtMost:)``
    case lease
    /// ``TokenStoreLease/release()``. It cannot fail.
    case release
}

/// When a call waits at a gate.
public enum StoreMoment: Sendable, Hashable {
    /// Before it does anything.
    case before
    /// When all is done, before the caller knows.
    case after
}

private final class FaultyLease: TokenStoreLease {
    private let base: any TokenStoreLease
    private let faults: StoreFaults

    init(base: any TokenStoreLease, faults: StoreFaults) {
        self.base = base
        self.faults = faults
    }

    func mayStillCall(_ owner: ProcessIdentity) -> Bool { base.mayStillCall(owner) }

    func release() async {
        await faults.pass(.release, .before)
        await base.release()
        await faults.pass(.release, .after)
    }
}

/// The script of a ``FaultyTokenStore``.
private final class StoreFaults: Sendable {
    private struct Script {
        var calls = 0
        var failures = 0
        var error: (any Error)?
        var gates: [StoreMoment: Gate] = [:]
    }

    private let scripts = Locked<[StoreOperation: Script]>([:])

    func fail(_ operation: StoreOperation, times count: Int, with error: any Error) {
        scripts.withLock { scripts in
            scripts[operation, default: Script()].failures = count
            scripts[operation, default: Script()].error = error
        }
    }

    func hold(_ operation: StoreOperation, at gate: Gate, _ moment: StoreMoment) {
        scripts.withLock { $0[operation, default: Script()].gates[moment] = gate }
    }

    func recover(_ operation: StoreOperation) {
        scripts.withLock { scripts in
            scripts[operation] = Script(calls: scripts[operation]?.calls ?? 0)
        }
    }

    func calls(_ operation: StoreOperation) -> Int {
        scripts.withLock { $0[operation]?.calls ?? 0 }
    }

    func perform<Value: Sendable>(_ operation: StoreOperation, _ call: () async throws -> Value) async throws -> Value {
        await pass(operation, .before)
        if let error = nextFailure(of: operation) { throw error }
        let value = try await call()
        await pass(operation, .after)
        return value
    }

    func pass(_ operation: StoreOperation, _ moment: StoreMoment) async {
        let gate = scripts.withLock { scripts in
            if moment == .before { scripts[operation, default: Script()].calls += 1 }
            return scripts[operation]?.gates[moment]
        }
        await gate?.pass()
    }

    private func nextFailure(of operation: StoreOperation) -> (any Error)? {
        scripts.withLock { scripts in
            guard let script = scripts[operation], script.failures > 0 else { return nil }
            scripts[operation]?.failures -= 1
            return script.error
        }
    }
}
