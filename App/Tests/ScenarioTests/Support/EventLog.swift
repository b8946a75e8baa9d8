import AuthInterface
import ConcurrencyPrimitives
import NIOConcurrencyHelpers
import TokenRefresh

/// What the engine reported, for tests to wait for.
final class EventLog: Sendable {
    private struct Watcher {
        let id: Int
        let isMeant: @Sendable (SessionEvent) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var events: [SessionEvent] = []
        var watchers: [Watcher] = []
        var nextID = 0
    }

    private let state = NIOLockedValueBox(State())

    func note(_ event: SessionEvent) {
        let awaited = state.withLockedValue { state in
            state.events.append(event)
            let awaited = state.watchers.filter { $0.isMeant(event) }
            state.watchers.removeAll { $0.isMeant(event) }
            return awaited
        }
        for watcher in awaited { watcher.continuation.resume() }
    }

    /// Waits until the engine has reported an event, or the task is cancelled.
    func wait(for isMeant: @escaping @Sendable (SessionEvent) -> Bool) async {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLockedValue { state in
                    if Task.isCancelled || state.events.contains(where: isMeant) { return true }
                    state.watchers.append(Watcher(id: id, isMeant: isMeant, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let watcher = state.withLockedValue { state in
                state.watchers.firstIndex { $0.id == id }.map { state.watchers.remove(at: $0) }
            }
            watcher?.continuation.resume()
        }
    }

    /// How many events there were of a kind.
    func count(_ isMeant: (SessionEvent) -> Bool) -> Int {
        state.withLockedValue(\.events).count(where: isMeant)
    }

    /// The endings of sessions, in order.
    var endings: [SignOutReason] {
        state.withLockedValue(\.events).compactMap { if case .signedOut(let reason) = $0 { reason } else { nil } }
    }
}

extension SessionEvent {
    var isSignedOut: Bool { if case .signedOut = self { true } else { false } }
    var isRefreshStarted: Bool { if case .refreshStarted = self { true } else { false } }
    var isRefreshed: Bool { if case .refreshed = self { true } else { false } }
    var isAdopted: Bool { if case .adopted = self { true } else { false } }
    var isResponseDropped: Bool { if case .responseDropped = self { true } else { false } }
    var isLateResponseKept: Bool { if case .lateResponseKept = self { true } else { false } }
}
