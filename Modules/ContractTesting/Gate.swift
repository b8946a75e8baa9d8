import ConcurrencyPrimitives

/// Tasks wait at a gate until a test opens it.
///
/// It replaces sleeping: a double waits at a gate in the middle of its work, and the test waits for
/// ``arrivals(atLeast:)``, acts, and opens the gate.
public final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var arrivals = 0
        var nextID = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Locked<State>

    /// Creates a gate.
    ///
    /// - Parameter isOpen: Whether it starts open.
    public init(isOpen: Bool = false) {
        state = Locked(State(isOpen: isOpen))
    }

    /// The number of tasks that have arrived so far, waiting or not.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until the gate is open, and ignores cancellation: the double of a call that hangs.
    public func pass() async {
        _ = await wait(id: nextID(), ignoresCancellation: true)
    }

    /// Waits until the gate is open, or until the task is cancelled.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func passUnlessCancelled() async throws {
        let id = nextID()
        let passed = await withTaskCancellationHandler {
            await wait(id: id, ignoresCancellation: false)
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: false)
        }
        if !passed { throw CancellationError() }
        try Task.checkCancellation()
    }

    /// Opens the gate for waiting tasks and for later ones.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    /// Closes the gate for later tasks.
    public func close() {
        state.withLock { $0.isOpen = false }
    }

    /// Waits until a number of tasks have arrived.
    ///
    /// - Parameter count: The number, from the first task on.
    public func arrivals(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.arrivals >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    private func nextID() -> Int {
        state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
    }

    private func wait(id: Int, ignoresCancellation: Bool) async -> Bool {
        enum Outcome { case passes, waits, isCancelled }
        return await withCheckedContinuation { continuation in
            let (outcome, watchers) = state.withLock { state in
                state.arrivals += 1
                let arrived = state.arrivals
                let reached = state.watchers.filter { $0.count <= arrived }.map(\.continuation)
                state.watchers.removeAll { $0.count <= arrived }
                if state.isOpen { return (Outcome.passes, reached) }
                // A cancellation before this line found no continuation to resume.
                if !ignoresCancellation, Task.isCancelled { return (.isCancelled, reached) }
                state.waiting[id] = continuation
                return (.waits, reached)
            }
            for watcher in watchers { watcher.resume() }
            switch outcome {
            case .passes: continuation.resume(returning: true)
            case .isCancelled: continuation.resume(returning: false)
            case .waits: break
            }
        }
    }
}
