#if AsyncHTTPClient
import ConcurrencyPrimitives

/// Ends the exchanges of a transport whose time has passed. One task serves them all: it sleeps until the first limit
/// that may be reached, and moves it on where there was activity.
final class ExchangeWatch: Sendable {
    private struct State {
        var exchanges: [ObjectIdentifier: AsyncHTTPClientExchange] = [:]
        var wakesAt: Duration?
        var sleeper: Task<Void, Never>?
    }

    private let clock: any TimeSource
    private let state = Locked(State())

    init(clock: any TimeSource) {
        self.clock = clock
    }

    deinit {
        state.withLock { $0.sleeper }?.cancel()
    }

    /// Watches an exchange until it is removed. To be called again when its limit comes closer.
    func add(_ exchange: AsyncHTTPClientExchange, limit: Duration) {
        let replaced = state.withLock { state -> Task<Void, Never>? in
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            if let wakesAt = state.wakesAt, wakesAt <= limit { return nil }
            defer {
                state.wakesAt = limit
                state.sleeper = sleeper(until: limit)
            }
            return state.sleeper
        }
        replaced?.cancel()
    }

    func remove(_ exchange: AsyncHTTPClientExchange) {
        state.withLock { _ = $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
    }

    private func sleeper(until limit: Duration) -> Task<Void, Never> {
        Task { [weak self, clock] in
            var limit = limit
            while true {
                do {
                    try await clock.sleep(until: limit)
                } catch {
                    return
                }
                guard let next = self?.endOverdue() else { return }
                limit = next
            }
        }
    }

    /// - Returns: When to look again; `nil` when there is nothing to watch.
    private func endOverdue() -> Duration? {
        let now = clock.uptime
        let exchanges = state.withLock { Array($0.exchanges.values) }
        for exchange in exchanges { exchange.endIfOverdue(at: now) }
        return state.withLock { state in
            let next = Task.isCancelled ? nil : state.exchanges.values.compactMap { $0.limit?.at }.min()
            if !Task.isCancelled { state.wakesAt = next }
            return next
        }
    }
}
#endif
