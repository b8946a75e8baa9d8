#if PostgreSQL
import ConcurrencyPrimitives

/// Pauses between failed attempts to connect, for all connections of a process together.
final class ReconnectBackoff: Sendable {
    private struct State {
        var failures = 0
        var resumption: Duration?
    }

    private let state = Locked(State())
    private let clock: any TimeSource
    private let backoff: Backoff

    init(_ backoff: Backoff, clock: any TimeSource) {
        self.backoff = backoff
        self.clock = clock
    }

    /// Connects, unless the last attempt failed and its pause has not passed (`pausing`).
    func attempt<Value>(_ connect: () throws(PostgreSQLFailure) -> Value) throws(PostgreSQLFailure) -> Value {
        let now = clock.uptime
        if let resumption = state.withLock({ $0.resumption }), now < resumption {
            throw PostgreSQLFailure(kind: .pausing(resumption - now))
        }
        do {
            let value = try connect()
            state.withLock { $0 = State() }
            return value
        } catch {
            let end = clock.uptime
            state.withLock { state in
                state.failures += 1
                state.resumption = end + backoff.delay(afterFailures: state.failures)
            }
            throw error
        }
    }
}
#endif
