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

    /// Creates timings of which nothing is known.
    public init() {}
}

extension NetworkTimings: CustomStringConvertible {
    /// The phases that have ended: `token 3 ms, first byte 30 ms, body 8 ms`.
    public var description: String {
        let phases = [
            ("token", token), ("connection", connection), ("first byte", firstByte), ("body", body),
        ]
        return phases.compactMap { name, duration in duration.map { "\(name) \($0.inWords)" } }.joined(separator: ", ")
    }
}

/// Times the phases of a call's last attempt. It exists where there is an observer only.
final class CallPhases: Sendable {
    private struct State {
        var timings = NetworkTimings()
        var tokenWaitAt: Duration?
        var sentAt: Duration?
        var headAt: Duration?
    }

    private let clock: any TimeSource
    private let state = Locked(State())

    init(clock: any TimeSource) {
        self.clock = clock
    }

    var timings: NetworkTimings { state.withLock { $0.timings } }

    func startAttempt() { state.withLock { $0 = State() } }

    func startTokenWait() { note { $0.tokenWaitAt = $1 } }

    func endTokenWait() { note { state, now in state.timings.token = state.tokenWaitAt.map { now - $0 } } }

    /// A redirect is sent again: the last exchange counts.
    func startExchange() {
        note { state, now in
            state.sentAt = now
            (state.timings.connection, state.timings.firstByte) = (nil, nil)
        }
    }

    func endConnectionWait() { note { state, now in state.timings.connection = state.sentAt.map { now - $0 } } }

    /// A transport that does not see connections knows how long the request waited for its turn.
    func setConnectionWait(_ wait: Duration) {
        state.withLock { state in state.timings.connection = state.timings.connection ?? wait }
    }

    func endHead() {
        note { state, now in
            state.headAt = now
            state.timings.firstByte = state.sentAt.map { now - $0 }
        }
    }

    func endBody() { note { state, now in state.timings.body = state.headAt.map { now - $0 } } }

    private func note(_ change: (inout State, _ now: Duration) -> Void) {
        let now = clock.uptime
        state.withLock { change(&$0, now) }
    }
}
