public import AuthInterface
import ConcurrencyPrimitives
public import ContractTesting

/// A store that fails and waits as scripted, over a store that works.
///
/// ```swift
/// let store = FaultyTokenStore(RecordingTokenStore(holding: bundle))
/// store.fail(.save, times: 2)             // the next two saves throw
/// let gate = store.hold(.load)            // every load waits at the gate
/// #expect(store.calls(.save) == 3)
/// ```
/// A call is counted, waits at its gate, throws the scripted error, if there is one, and else reaches the base store,
/// whose errors it throws. Over a shared store it is a shared store, and the calls of a lease are counted and scripted
/// too.
public final class FaultyTokenStore<Base: TokenStore>: TokenStore {
    /// The base store.
    public let base: Base

    private let faults = StoreFaults()

    /// Creates a store without a script, over the store that does the work.
    public init(_ base: Base) { self.base = base }

    /// Makes the next calls of an operation fail: a number of them, or all until ``recover(_:)``. They do not reach the
    /// base store.
    public func fail(
        _ operation: StoreOperation, times count: Int? = nil,
        with error: any Error = TokenStoreError(.unavailable, reason: "scripted")
    ) {
        faults.change(operation) { script in
            script.failures = count ?? .max
            script.error = error
        }
        if operation == .watch { faults.endWatches() }
    }

    /// Makes every call of an operation wait at a gate, before or after its effect, and returns the gate. The wait
    /// ignores cancellation, as a hanging disk does.
    @discardableResult
    public func hold(
        _ operation: StoreOperation, at gate: Gate = Gate(), _ moment: StoreOperation.Moment = .before
    ) -> Gate {
        faults.change(operation) { $0.gates[moment] = gate }
        return gate
    }

    /// Removes the script of an operation.
    public func recover(_ operation: StoreOperation) { faults.change(operation) { $0 = .init(calls: $0.calls) } }

    /// The number of calls of an operation, failed ones included.
    public func calls(_ operation: StoreOperation) -> Int { faults.change(operation) { $0.calls } }

    /// Reads from the base store.
    public func load() async throws -> TokenBundle? { try await faults.perform(.load) { try await base.load() } }

    /// Writes to the base store.
    public func save(_ bundle: TokenBundle) async throws {
        try await faults.perform(bundle.refreshIntent == nil ? .save : .record) { try await base.save(bundle) }
    }

    /// Deletes from the base store.
    public func delete() async throws { try await faults.perform(.delete) { try await base.delete() } }
}

extension FaultyTokenStore: SharedTokenStore, SessionSource where Base: SharedTokenStore {
    /// Reads from the base store, as ``StoreOperation/load``.
    public func read() async throws -> StoredSession { try await faults.perform(.load) { try await base.read() } }

    /// Writes to the base store, as the operation of what the change writes to an empty store:
    /// ``StoreOperation/save``, ``StoreOperation/record`` or ``StoreOperation/delete``.
    public func update(_ change: @escaping StoreChange) async throws {
        let operation: StoreOperation =
            switch change(.success(.empty)) {
            case .active(let bundle): bundle.refreshIntent == nil ? .save : .record
            case .tombstone, .empty: .delete
            case nil: .save
            }
        try await faults.perform(operation) { try await base.update(change) }
    }

    /// The changes of the base store, as ``StoreOperation/watch``. A scripted failure ends the stream.
    public var changes: AsyncStream<Void> { faults.watch(base.changes) }

    /// Takes the lease of the base store. Its calls are counted and scripted as those of the store. The limit does not
    /// count the wait at a gate.
    public func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        let lease = try await faults.perform(.lease) { try await base.lease(waitingAtMost: limit, whileHeld: report) }
        return FaultyLease(base: lease, faults: faults)
    }
}

private struct FaultyLease: TokenStoreLease {
    let base: any TokenStoreLease
    let faults: StoreFaults

    var identity: String? { base.identity }

    func mayStillCall(_ intent: RefreshIntent) -> Bool { base.mayStillCall(intent) }

    var isLost: Bool { base.isLost }

    func release() async {
        await faults.pass(.release, .before)
        await base.release()
        await faults.pass(.release, .after)
    }
}

private final class StoreFaults: Sendable {
    struct Script {
        var calls = 0
        var failures = 0
        var error: (any Error)?
        var gates: [StoreOperation.Moment: Gate] = [:]
    }

    private let scripts = Locked<[StoreOperation: Script]>([:])
    /// Every stream of changes so far.
    private let watches = Locked<[AsyncStream<Void>.Continuation]>([])

    func change<Value: Sendable>(_ operation: StoreOperation, _ change: (inout Script) -> Value) -> Value {
        scripts.withLock { change(&$0[operation, default: Script()]) }
    }

    func endWatches() { for continuation in watches.withLock({ $0 }) { continuation.finish() } }

    func watch(_ changes: AsyncStream<Void>) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        change(.watch) { $0.calls += 1 }
        guard nextFailure(of: .watch) == nil else {
            continuation.finish()
            return stream
        }
        let forwarding = Task {
            for await change in changes { continuation.yield(change) }
            continuation.finish()
        }
        continuation.onTermination = { _ in forwarding.cancel() }
        watches.withLock { $0.append(continuation) }
        return stream
    }

    func perform<Value: Sendable>(_ operation: StoreOperation, _ call: () async throws -> Value) async throws -> Value {
        await pass(operation, .before)
        if let error = nextFailure(of: operation) { throw error }
        let value = try await call()
        await pass(operation, .after)
        return value
    }

    func pass(_ operation: StoreOperation, _ moment: StoreOperation.Moment) async {
        if moment == .before { change(operation) { $0.calls += 1 } }
        await change(operation) { $0.gates[moment] }?.pass()
    }

    private func nextFailure(of operation: StoreOperation) -> (any Error)? {
        change(operation) { script in
            guard script.failures > 0 else { return nil }
            script.failures -= 1
            return script.error
        }
    }
}
