import ConcurrencyPrimitives

// Time limits.
extension URLSessionExchange {
    func startWatch() {
        let watch = Task { await self.watchTime() }
        let replaced = state.withLock { state -> Task<Void, Never>? in
            guard state.end == nil else { return watch }
            defer { state.watch = watch }
            return state.watch
        }
        replaced?.cancel()
    }

    /// The first limit to be reached, and what it is a limit of.
    private var limit: (at: Duration, reason: String) {
        let (turnAt, lastActivity, hasHead) = state.withLock { ($0.turnAt, $0.lastActivity, $0.hasHead) }
        let idle = (lastActivity + request.idleTimeout, "nothing was sent or received for \(request.idleTimeout)")
        guard !hasHead, let timeToHead = request.timeToHead else { return idle }
        let deadline = startedAt + timeToHead
        let hadTurn = turnAt.map { $0 < deadline } ?? false
        let waitedFor = hadTurn ? "the head of the response did not arrive" : "waited for a connection"
        let total = (deadline, "\(waitedFor) for \(timeToHead)")
        return turnAt == nil || total.0 < idle.0 ? total : idle
    }

    private func watchTime() async {
        while true {
            let limit = limit
            guard clock.uptime < limit.at else { return fail(HTTPTransportError(.timedOut, reason: limit.reason)) }
            do {
                try await clock.sleep(until: limit.at)
            } catch {
                return
            }
        }
    }
}
