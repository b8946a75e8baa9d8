import AuthInterface

/// Reaches the store for the machine: one thing after another, in the order the machine asked.
///
/// One task drains the queue. It does not keep the coordinator alive; what was asked for before the coordinator went
/// is still done, so that the newest tokens reach the store.
struct StoreWorker: Sendable {
    enum Operation: Sendable {
        case load
        case lease(AttemptID)
        case reread(AttemptID)
        case write(version: Int, StoreContent)
        case release(AttemptID)
    }

    private let queue: AsyncStream<Operation>.Continuation

    /// Starts the worker.
    ///
    /// - Parameters:
    ///   - store: The store it reaches.
    ///   - leaseWait: How long to wait for another holder of a shared store.
    ///   - report: Takes what became of each operation.
    init(store: any TokenStore, leaseWait: Duration, report: @escaping @Sendable (RefreshEvent) -> Void) {
        let (stream, continuation) = AsyncStream.makeStream(of: Operation.self)
        queue = continuation
        Task {
            var desk = Holder(store: store, leaseWait: leaseWait)
            for await operation in stream {
                if let event = await desk.perform(operation) { report(event) }
            }
            await desk.letGo()
        }
    }

    func perform(_ operation: Operation) {
        queue.yield(operation)
    }

    func finish() {
        queue.finish()
    }
}

/// The store, and the lease that an attempt holds on it.
private struct Holder {
    let store: any TokenStore
    let leaseWait: Duration
    var held: (attempt: AttemptID, lease: any TokenStoreLease)?

    private var shared: (any SharedTokenStore)? { store as? any SharedTokenStore }

    mutating func perform(_ operation: StoreWorker.Operation) async -> RefreshEvent? {
        switch operation {
        case .load:
            return .loaded(await read(store))
        case .lease(let id):
            return await lease(for: id)
        case .reread(let id):
            return .reread(id, await read(held?.lease ?? store))
        case .write(let version, let content):
            return .wrote(version: version, await write(content))
        case .release(let id):
            if held?.attempt == id { await letGo() }
            return nil
        }
    }

    mutating func letGo() async {
        await held?.lease.release()
        held = nil
    }

    private mutating func lease(for id: AttemptID) async -> RefreshEvent {
        await letGo()
        guard let shared else { return .leased(id) }
        do {
            held = (id, try await shared.lease(waitingAtMost: leaseWait))
            return .leased(id)
        } catch {
            return .leaseFailed(id, .wrapping(error))
        }
    }

    private func read(_ store: any TokenStore) async -> Result<TokenBundle?, TokenStoreError> {
        do {
            return .success(try await store.load())
        } catch {
            return .failure(.wrapping(error))
        }
    }

    private func write(_ content: StoreContent) async -> WriteOutcome {
        do {
            guard let shared else { return try await put(content, to: store, isShared: false) }
            if let held { return try await put(content, to: held.lease, isShared: true) }
            let lease = try await shared.lease(waitingAtMost: leaseWait)
            do {
                let outcome = try await put(content, to: lease, isShared: true)
                await lease.release()
                return outcome
            } catch {
                await lease.release()
                throw error
            }
        } catch {
            return .failed(.wrapping(error))
        }
    }

    /// Writes what the content makes of what is there. Only a shared store is asked: between the look and the write the
    /// lease keeps everybody else away.
    private func put(_ content: StoreContent, to store: any TokenStore, isShared: Bool) async throws -> WriteOutcome {
        switch isShared && content.mustLook ? try await decision(content, over: store) : content.blindDecision {
        case .save(let bundle): return try await save(bundle, in: store)
        case .delete: try await store.delete()
        case .leave(let outcome): return outcome
        }
        return .written
    }

    /// A store may know better than the lease who was first, and refuse to go back to an older generation.
    private func save(_ bundle: TokenBundle, in store: any TokenStore) async throws -> WriteOutcome {
        do {
            try await store.save(bundle)
            return .written
        } catch let error as TokenStoreError where error.code == .superseded {
            return .superseded(by: try await store.load())
        }
    }

    /// A store that cannot be read may hold another user's session: it is not written then, and tried again later.
    /// Only what is certain to be nobody's bundle may go with a logout unseen.
    private func decision(_ content: StoreContent, over store: any TokenStore) async throws -> StoreContent.Decision {
        do {
            return content.decision(over: try await store.load())
        } catch let error as TokenStoreError where error.code == .corrupt && content.isNothing {
            return .delete
        }
    }
}

extension TokenStoreError {
    /// Reads any error of a store as ours: whatever it is, the store could not say.
    fileprivate static func wrapping(_ error: any Error) -> TokenStoreError {
        error as? TokenStoreError
            ?? TokenStoreError(.unavailable, reason: "the store failed with \(type(of: error))", cause: error)
    }
}
