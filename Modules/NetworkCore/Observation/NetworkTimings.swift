import ConcurrencyPrimitives

/// What the phases of an attempt took. `nil`: the phase has not ended, or the transport cannot see it.
public struct NetworkTimings: Sendable, Hashable {
    /// The wait for a token, a refresh included. `nil` also where the call needs none.
    public var token: Duration?

    /// The wait for a connection: in the queue, and until a new one is made.
    public var connection: Duration?

    /// From the request to the head of its response, the wait for a connection included.
    public var firstByte: Duration?

    /// From the head to the end of the body and of its decoding. `nil` also for a stream.
    public var body: Duration?
}

extension NetworkTimings: CustomStringConvertible {
    /// The phases that have ended: `token 3 ms, first byte 30 ms, body 8 ms`.
    public var description: String {
        let phases = [("token", token), ("connection", connection), ("first byte", firstByte), ("body", body)]
        return phases.compactMap { name, duration in duration.map { "\(name) \($0.inWords)" } }.joined(separator: ", ")
    }
}

/// Times the phases of a call's last attempt. It exists where there is an observer only.
final class CallPhases: Sendable {
    /// What a phase is timed from.
    enum Start { case tokenWait, exchange, head }

    private struct State {
        var timings = NetworkTimings()
        var starts: [Start: Duration] = [:]
    }

    private let clock: any TimeSource
    private let state = Locked(State())

    init(clock: any TimeSource) { self.clock = clock }

    var timings: NetworkTimings { state.withLock { $0.timings } }

    func startAttempt() { state.withLock { $0 = State() } }

    /// Notes a start. A redirect is sent again: the last exchange counts.
    func note(_ start: Start) {
        let now = clock.uptime
        state.withLock { state in
            state.starts[start] = now
            if start == .exchange { (state.timings.connection, state.timings.firstByte) = (nil, nil) }
        }
    }

    func end(_ phase: WritableKeyPath<NetworkTimings, Duration?>, since start: Start) {
        let now = clock.uptime
        state.withLock { state in state.timings[keyPath: phase] = state.starts[start].map { now - $0 } }
    }

    /// A transport that does not see connections knows how long the request waited for its turn.
    func setConnectionWait(_ wait: Duration) {
        state.withLock { state in state.timings.connection = state.timings.connection ?? wait }
    }
}
