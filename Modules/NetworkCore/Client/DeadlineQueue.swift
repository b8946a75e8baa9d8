package import ConcurrencyPrimitives

/// Calls closures when their time has come. One task sleeps for all of them.
///
/// - Complexity: Adding is O(log *n*), and O(1) for a deadline that is later than the others; removing is O(1), amortised.
package final class DeadlineQueue: Sendable {
    private struct Entry {
        let deadline: Duration
        let id: UInt64
    }

    private struct State {
        var actions: [UInt64: @Sendable () -> Void] = [:]
        /// A heap, the earliest first. An entry that was removed has no action.
        var heap: [Entry] = []
        var lastID: UInt64 = 0
        var wakesAt: Duration?
        var sleeper: Task<Void, Never>?
    }

    let clock: any TimeSource
    private let state = Locked(State())

    /// Creates an empty queue.
    ///
    /// - Parameter clock: The clock of the deadlines.
    package init(clock: any TimeSource) {
        self.clock = clock
    }

    deinit {
        state.withLock { $0.sleeper }?.cancel()
    }

    /// Adds a closure.
    ///
    /// - Parameters:
    ///   - deadline: When to call it, on the uptime of the clock.
    ///   - action: Is called once, outside the lock, on any thread. It must not block.
    /// - Returns: The number by which to remove it.
    package func add(at deadline: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            state.actions[state.lastID] = action
            state.heap.append(Entry(deadline: deadline, id: state.lastID))
            siftUp(&state.heap)
            arm(&state)
            return state.lastID
        }
    }

    /// Removes a closure that was not called.
    package func remove(_ id: UInt64) {
        state.withLock { state in
            _ = state.actions.removeValue(forKey: id)
            guard state.heap.count > 64, state.heap.count > state.actions.count * 2 else { return }
            state.heap.removeAll { state.actions[$0.id] == nil }
            state.heap.sort { $0.deadline < $1.deadline }
        }
    }

    private func wake() {
        let now = clock.uptime
        let due = state.withLock { state in
            var due: [@Sendable () -> Void] = []
            while let first = state.heap.first, first.deadline <= now || state.actions[first.id] == nil {
                if let action = state.actions.removeValue(forKey: first.id) { due.append(action) }
                removeFirst(&state.heap)
            }
            (state.wakesAt, state.sleeper) = (nil, nil)
            arm(&state)
            return due
        }
        for action in due { action() }
    }

    /// Makes the task sleep no longer than to the earliest deadline.
    private func arm(_ state: inout State) {
        guard let next = state.heap.first?.deadline else { return }
        if let wakesAt = state.wakesAt, wakesAt <= next { return }
        state.sleeper?.cancel()
        state.wakesAt = next
        state.sleeper = Task { [clock, weak self] in
            do {
                try await clock.sleep(until: next)
            } catch {
                return
            }
            self?.wake()
        }
    }

    private func siftUp(_ heap: inout [Entry]) {
        var child = heap.count - 1
        while child > 0, case let parent = (child - 1) / 2, heap[child].deadline < heap[parent].deadline {
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private func removeFirst(_ heap: inout [Entry]) {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let children = (2 * parent + 1..<2 * parent + 3).filter { $0 < heap.count }
            guard let least = children.min(by: { heap[$0].deadline < heap[$1].deadline }),
                heap[least].deadline < heap[parent].deadline
            else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

extension DeadlineQueue {
    /// Runs work in a task of its own, and stops waiting for it at a deadline or when the caller is cancelled. The work is
    /// cancelled then, and what becomes of it is dropped.
    ///
    /// Work that ends without a suspension costs a task, and no timer. Other work costs a switch between threads too, so
    /// only what may ignore its cancellation is run in this way.
    ///
    /// - Parameters:
    ///   - deadline: When to stop waiting, on the uptime of the clock. `nil`: only when the caller is cancelled.
    ///   - expired: The error to throw at the deadline.
    ///   - dropped: Is called with a value for which no one waits any more.
    ///   - work: The work.
    /// - Returns: What the work returns.
    /// - Throws: What the work throws; the error of `expired`; `CancellationError` at once when the task is cancelled.
    func limit<Value: Sendable>(
        _ deadline: Duration?,
        expired: @escaping @Sendable () -> any Error,
        dropped: @escaping @Sendable (Value) -> Void = { _ in },
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        // The task of the work does not know that the caller is cancelled.
        try Task.checkCancellation()
        let limited = LimitedWork<Value>()
        let task = LimitedWork<Value>.start {
            do {
                let value = try await work()
                if !limited.end(.success(value)) { dropped(value) }
            } catch {
                limited.end(.failure(error))
            }
        }
        if let result = limited.result { return try result.get() }
        let timer = deadline.map { deadline in
            add(at: deadline) {
                limited.end(.failure(expired()))
                task.cancel()
            }
        }
        defer { if let timer { remove(timer) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { limited.wait($0) }
        } onCancel: {
            limited.end(.failure(CancellationError()))
            task.cancel()
        }
    }
}

/// Work in a task of its own, and the one that waits for its result.
private final class LimitedWork<Value: Sendable>: Sendable {
    private enum State {
        case running
        case waiting(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
    }

    private let state = Locked(State.running)

    var result: Result<Value, any Error>? {
        state.withLock { if case .ended(let result) = $0 { result } else { nil } }
    }

    /// Starts on this thread, where the system can, up to the first suspension.
    static func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { return Task.immediate { await work() } }
        return Task { await work() }
    }

    /// The first end counts.
    ///
    /// - Returns: Whether it was the first.
    @discardableResult
    func end(_ result: Result<Value, any Error>) -> Bool {
        let before = state.withLock { state in
            defer { if case .ended = state {} else { state = .ended(result) } }
            return state
        }
        switch before {
        case .running: return true
        case .waiting(let continuation):
            continuation.resume(with: result)
            return true
        case .ended: return false
        }
    }

    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            if case .ended(let result) = state { return result }
            state = .waiting(continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }
}
