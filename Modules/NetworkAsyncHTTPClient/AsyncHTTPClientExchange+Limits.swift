#if AsyncHTTPClient
import ConcurrencyPrimitives
import NetworkCore

// The idle timeout, and the time to the head of the response.
extension AsyncHTTPClientExchange {
    /// The first limit to be reached, and what makes its error. `nil`: nothing has a limit now.
    private var limit: (at: Duration, error: @Sendable () -> HTTPTransportError)? {
        let (isWatched, lastActivity, hasHead, isSent) = state.withLock { state in
            (state.turnAt != nil && state.demand == nil, state.lastActivity, state.hasHead, state.isSent)
        }
        let idleAt = isWatched ? lastActivity + request.idleTimeout : nil
        if let longest = request.longestTime(hasHead: hasHead), idleAt.map({ startedAt + longest < $0 }) ?? true {
            let wait = hasHead ? NetworkError.Wait.responseBody : isSent ? .responseHead : .connection
            return (startedAt + longest, { .waited(for: wait, atMost: longest) })
        }
        return idleAt.map { [idleTimeout = request.idleTimeout] at in
            (at, { .idle(for: idleTimeout, hasHead: hasHead) })
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
        if clock.uptime < limit.at { startWatch() } else { fail(limit.error()) }
    }
}
#endif
