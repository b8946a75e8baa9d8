#if AsyncHTTPClient
import ConcurrencyPrimitives
import NetworkCore

// The idle timeout, and the time to the head of the response.
extension AsyncHTTPClientExchange {
    /// The first limit to be reached, and the error of it. `nil`: nothing has a limit now.
    private var limit: (at: Duration, error: HTTPTransportError)? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            var limits: [(at: Duration, error: HTTPTransportError)] = []
            if state.turnAt != nil, state.demand == nil {
                let error = HTTPTransportError.idle(for: request.idleTimeout, hasHead: state.hasHead)
                limits.append((state.lastActivity + request.idleTimeout, error))
            }
            if !state.hasHead, let timeToHead = request.timeToHead {
                let wait = state.isSent ? NetworkError.Wait.responseHead : .connection
                limits.append((startedAt + timeToHead, .waited(for: wait, atMost: timeToHead)))
            }
            return limits.min { $0.at < $1.at }
        }
    }

    /// Checks the first limit when it may be reached, and again later where there was activity.
    func startWatch() {
        guard let limit else { return }
        let added = deadlines.add(at: limit.at) { [weak self] in self?.checkLimit() }
        let replaced = state.withLock { state -> UInt64? in
            guard state.end == nil else { return added }
            defer { state.deadline = added }
            return state.deadline
        }
        if let replaced { deadlines.remove(replaced) }
    }

    private func checkLimit() {
        guard let limit else { return }
        if clock.uptime < limit.at { startWatch() } else { fail(limit.error) }
    }
}
#endif
