import NIOConcurrencyHelpers

/// Holds the requests that reach it until a test opens it, so that the test controls their order without sleeping.
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
        var nextID = 0
        var held: [(id: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var observers: [(id: Int, threshold: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = NIOLockedValueBox(State())

    init() {}

    /// The number of requests that are held now.
    public var heldCount: Int { state.withLockedValue { $0.held.count } }

    /// Waits until this many requests have arrived in total, those already released included.
    ///
    /// Returns early when the calling task is cancelled.
    ///
    /// - Parameter count: The number of requests to wait for.
    public func arrivals(_ count: Int) async {
        let id = takeID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReached = state.withLockedValue { state in
                    if state.arrivals >= count || Task.isCancelled { return true }
                    state.observers.append((id, count, continuation))
                    return false
                }
                if isReached { continuation.resume() }
            }
        } onCancel: {
            let observer = state.withLockedValue { state in
                state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
            }
            observer?.continuation.resume()
        }
    }

    /// Releases all requests, now and later.
    public func open() {
        let held = state.withLockedValue { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for request in held { request.continuation.resume() }
    }

    /// Releases the requests that have waited longest, and stays closed for the rest.
    ///
    /// - Parameter count: The most requests to release.
    public func release(_ count: Int = 1) {
        let released = state.withLockedValue { state in
            let released = Array(state.held.prefix(count))
            state.held.removeFirst(released.count)
            return released
        }
        for request in released { request.continuation.resume() }
    }

    /// Waits for the gate to open; returns early when the request's task is cancelled.
    func pass() async {
        let id = takeID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (mayPass, reached) = state.withLockedValue { state in
                    state.arrivals += 1
                    let arrivals = state.arrivals
                    let reached = state.observers.filter { $0.threshold <= arrivals }
                    state.observers.removeAll { $0.threshold <= arrivals }
                    let mayPass = state.isOpen || Task.isCancelled
                    if !mayPass { state.held.append((id, continuation)) }
                    return (mayPass, reached)
                }
                if mayPass { continuation.resume() }
                for observer in reached { observer.continuation.resume() }
            }
        } onCancel: {
            let request = state.withLockedValue { state in
                state.held.firstIndex { $0.id == id }.map { state.held.remove(at: $0) }
            }
            request?.continuation.resume()
        }
    }

    private func takeID() -> Int {
        state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
    }
}
