import NIOConcurrencyHelpers

/// Holds the requests that reach it until a test opens it, so that the test controls their order.
///
/// An open gate stays open. It can be used from any thread.
public final class Gate: Sendable {
    /// The stage of a request at which a gate holds it.
    public enum Position: Sendable, Hashable {
        /// The handler has not run.
        case beforeHandler
        /// The handler has run and committed; the response has not been sent.
        case beforeResponse
    }

    private struct State {
        var isOpen = false
        var arrivals = 0
        var held: [AsyncStream<Void>.Continuation] = []
    }

    private let state = NIOLockedValueBox(State())

    /// Waits until this many requests have arrived in total, those already released included.
    ///
    /// Returns early when the calling task is cancelled.
    public func arrivals(_ count: Int) async {
        while state.withLockedValue({ $0.arrivals < count }), !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Releases all requests, now and later.
    public func open() {
        state.withLockedValue { $0.isOpen = true }
        release(.max)
    }

    /// Releases the requests that have waited longest, at most this many, and stays closed for the rest.
    public func release(_ count: Int = 1) {
        let released = state.withLockedValue { state in
            let released = state.held.prefix(count)
            state.held.removeFirst(released.count)
            return released
        }
        for request in released { request.finish() }
    }

    /// Waits for the gate to open; returns early when the request's task is cancelled.
    func pass() async {
        let (end, request) = AsyncStream.makeStream(of: Void.self)
        state.withLockedValue { state in
            state.arrivals += 1
            if state.isOpen { request.finish() } else { state.held.append(request) }
        }
        for await _ in end {}
    }
}
