import AuthInterface
import ConcurrencyPrimitives

/// A place where tasks wait until a test lets them through.
///
/// It replaces sleeping: a double passes a gate in the middle of its work, the test waits for ``arrivals(atLeast:)``,
/// does what must happen meanwhile, and opens.
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
    /// - Parameter isOpen: Whether it lets tasks through from the start.
    public init(isOpen: Bool = false) {
        state = Locked(State(isOpen: isOpen))
    }

    /// How many tasks have come to the gate so far, through it or not.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until the gate is open, whether the task is cancelled or not: the double of a call that hangs.
    public func pass() async {
        _ = await wait(id: nextID(), isDeaf: true)
    }

    /// Waits until the gate is open: the double of a call that honours cancellation.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func passUnlessCancelled() async throws {
        let id = nextID()
        let passed = await withTaskCancellationHandler {
            await wait(id: id, isDeaf: false)
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: false)
        }
        if !passed { throw CancellationError() }
        try Task.checkCancellation()
    }

    /// Lets everybody through, now and from now on.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    /// Closes the gate for those who come from now on.
    public func close() {
        state.withLock { $0.isOpen = false }
    }

    /// Waits until a number of tasks have come to the gate.
    ///
    /// - Parameter count: How many, from the start.
    public func arrivals(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func nextID() -> Int {
        state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
    }

    private func wait(id: Int, isDeaf: Bool) async -> Bool {
        enum Outcome { case passes, waits, isCancelled }
        return await withCheckedContinuation { continuation in
            let (outcome, watchers) = state.withLock { state in
                state.arrivals += 1
                let arrived = state.arrivals
                let content = state.watchers.filter { $0.count <= arrived }.map(\.continuation)
                state.watchers.removeAll { $0.count <= arrived }
                if state.isOpen { return (Outcome.passes, content) }
                // The handler of a task that was cancelled before this line found nobody to wake.
                if !isDeaf, Task.isCancelled { return (.isCancelled, content) }
                state.waiting[id] = continuation
                return (.waits, content)
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
