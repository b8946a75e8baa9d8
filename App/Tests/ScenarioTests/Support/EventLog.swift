import AuthInterface
import ConcurrencyPrimitives
import NIOConcurrencyHelpers
import TokenRefresh

/// The events of an engine, which tests can wait for.
final class EventLog: Sendable {
    private struct State {
        var events: [SessionEvent] = []
        var listeners: [AsyncStream<SessionEvent>.Continuation] = []
    }

    private let state = NIOLockedValueBox(State())

    func note(_ event: SessionEvent) {
        state.withLockedValue { state in
            state.events.append(event)
            for listener in state.listeners { listener.yield(event) }
        }
    }

    /// Waits until the engine has reported a matching event, or the task is cancelled.
    func wait(for matches: (SessionEvent) -> Bool) async {
        let (events, listener) = AsyncStream.makeStream(of: SessionEvent.self)
        state.withLockedValue { state in
            for event in state.events { listener.yield(event) }
            state.listeners.append(listener)
        }
        for await event in events where matches(event) { return }
    }

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

extension SessionState {
    /// How the session has ended at the server.
    var ending: SessionEnding? { if case .signedOut(let reason) = self { reason.ending } else { nil } }
}

extension SignOutReason {
    var ending: SessionEnding? { if case .expired(let ending) = self { ending } else { nil } }
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
