import AuthInterface
import ConcurrencyPrimitives
import NIOConcurrencyHelpers
import TokenRefresh

/// The events of an engine, which tests can wait for.
final class EventLog: Sendable {
    private struct Waiter {
        let id: Int
        let matches: @Sendable (SessionEvent) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var events: [SessionEvent] = []
        var waiters: [Waiter] = []
        var nextID = 0
    }

    private let state = NIOLockedValueBox(State())

    func note(_ event: SessionEvent) {
        let notified = state.withLockedValue { state in
            state.events.append(event)
            let notified = state.waiters.filter { $0.matches(event) }
            state.waiters.removeAll { $0.matches(event) }
            return notified
        }
        for waiter in notified { waiter.continuation.resume() }
    }

    /// Waits until the engine has reported a matching event, or the task is cancelled.
    func wait(for matches: @escaping @Sendable (SessionEvent) -> Bool) async {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLockedValue { state in
                    if Task.isCancelled || state.events.contains(where: matches) { return true }
                    state.waiters.append(Waiter(id: id, matches: matches, continuation: continuation))
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLockedValue { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }

    /// The number of matching events.
    func count(_ matches: (SessionEvent) -> Bool) -> Int {
        state.withLockedValue(\.events).count(where: matches)
    }

    /// The endings of sessions, in order. An engine that has read an empty store before a sign-in has ended none.
    var endings: [SignOutReason] {
        state.withLockedValue(\.events).compactMap { event in
            if case .signedOut(let reason) = event, reason != .never { reason } else { nil }
        }
    }
}

extension SessionEvent {
    var isSignedOut: Bool { if case .signedOut = self { true } else { false } }
    var isRefreshStarted: Bool { if case .refreshStarted = self { true } else { false } }
    var isRefreshed: Bool { if case .refreshed = self { true } else { false } }
    var isAdopted: Bool { if case .adopted = self { true } else { false } }
    var isResponseDropped: Bool { if case .responseDropped = self { true } else { false } }
    var isOtherSubjectIgnored: Bool { if case .otherSubjectIgnored = self { true } else { false } }
    var isLateResponseKept: Bool { if case .lateResponseKept = self { true } else { false } }
}
