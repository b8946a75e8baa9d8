#if PostgreSQL
import AuthInterface

/// Spaces the attempts to reach a database that cannot be reached, for all connections to it together.
final class ReconnectPacer: Sendable {
    private struct State {
        var failures = 0
        var resumption: Duration?
    }

    private let state = Locked(State())
    private let time: any TimeSource
    private let first: Duration
    private let longest: Duration

    init(limits: PostgreSQLLimits, time: any TimeSource) {
        self.time = time
        first = limits.reconnectPause
        longest = limits.longestReconnectPause
    }

    /// Connects, unless the last attempt failed a moment ago.
    ///
    /// Half of each pause is left to chance, so that a fleet does not come back in step.
    func attempt<Value>(_ connect: () throws(PostgreSQLFailure) -> Value) throws(PostgreSQLFailure) -> Value {
        let now = time.uptime
        if let resumption = state.withLock({ $0.resumption }), now < resumption {
            throw PostgreSQLFailure(kind: .pausing(resumption - now))
        }
        do {
            let value = try connect()
            state.withLock { $0 = State() }
            return value
        } catch {
            let end = time.uptime
            state.withLock { state in
                let pause = min(first * (1 << min(state.failures, 20)), longest)
                state.failures += 1
                state.resumption = end + pause * Double.random(in: 0.5...1)
            }
            throw error
        }
    }
}
#endif
