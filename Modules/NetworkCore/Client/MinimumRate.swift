import ConcurrencyPrimitives

/// The least that a transfer has to move, in place of a total deadline (G25): a number of bytes in each window of time.
///
/// A large file may take long over a slow network, and a peer that sends or reads a byte at times holds no call.
public struct MinimumRate: Sendable, Hashable {
    /// 4 KiB in 60 seconds.
    public static let standard = MinimumRate(bytes: 4 * 1_024, in: .seconds(60))

    /// The least number of bytes in a window.
    public var bytes: Int64

    /// The length of a window. A single wait counts as half of it at most: the device may have slept.
    public var window: Duration

    /// Creates a rate.
    public init(bytes: Int64, in window: Duration) {
        self.bytes = bytes
        self.window = window
    }

    /// The error of a transfer that is slower.
    package func error(waitingFor wait: NetworkError.Wait) -> NetworkError {
        let reason = "\(wait) moved less than \(bytes) bytes in \(window.inWords)"
        return NetworkError(.timedOut, reason: reason, waitedFor: wait)
    }
}

/// Says until when an upload may go on: its start and the wait for the response have a limit, the rest a minimum rate.
final class UploadWatch: Sendable {
    private enum Phase {
        /// No byte was sent.
        case waiting(until: Duration)
        case sending(windowEnd: Duration, sentBefore: Int64)
        case sent(until: Duration)
    }

    private struct State {
        var phase: Phase
        var sent: Int64 = 0
        /// The length of the body, where only its end has told it.
        var total: Int64?
    }

    /// How much later than its end a window is looked at, after which it says nothing: the device has slept.
    private static let look: Duration = .seconds(1)

    private let rate: MinimumRate
    private let timeLimit: Duration?
    private let clock: any TimeSource
    private let state: Locked<State>

    /// The time limit is the longest wait for a connection, and for the head of the response. `nil`: no limit.
    init(_ rate: MinimumRate, timeLimit: Duration?, clock: any TimeSource) {
        (self.rate, self.timeLimit, self.clock) = (rate, timeLimit, clock)
        state = Locked(State(phase: .waiting(until: Self.end(of: timeLimit, from: clock.uptime))))
    }

    private static func end(of timeLimit: Duration?, from now: Duration) -> Duration {
        // Without a limit, the idle timeout ends these waits.
        now + (timeLimit ?? .seconds(365 * 24 * 60 * 60))
    }

    func record(_ progress: TransferProgress) {
        let now = clock.uptime
        state.withLock { state in
            state.sent = progress.completed
            if let total = progress.total ?? state.total, progress.completed >= total {
                state.phase = .sent(until: Self.end(of: timeLimit, from: now))
            } else if case .waiting = state.phase {
                state.phase = .sending(windowEnd: now + rate.window, sentBefore: 0)
            }
        }
    }

    /// The transport has all of a body of unknown length: the work of a server is no slow upload.
    func recordEnd(after total: Int64) {
        let now = clock.uptime
        state.withLock { state in
            state.total = total
            if state.sent >= total { state.phase = .sent(until: Self.end(of: timeLimit, from: now)) }
        }
    }

    /// When to look next. `nil`: the upload has taken too long.
    func nextLook(at now: Duration) -> Duration? {
        state.withLock { state in
            switch state.phase {
            // Once in a window: meanwhile the first byte may be sent, whose window ends before this wait would.
            case .waiting(let end): return now < end ? min(end, now + rate.window) : nil
            case .sent(let end): return now < end ? end : nil
            case .sending(let end, _) where now < end: return end
            case .sending(let end, let before):
                guard state.sent - before >= rate.bytes || now > end + Self.look else { return nil }
                state.phase = .sending(windowEnd: now + rate.window, sentBefore: state.sent)
                return now + rate.window
            }
        }
    }

    /// The error of an upload that has taken too long.
    var error: NetworkError {
        let waited = timeLimit?.inWords ?? "too long"
        switch state.withLock({ $0.phase }) {
        case .waiting:
            return NetworkError(.timedOut, reason: "waited \(waited) to send the body", waitedFor: .connection)
        case .sending: return rate.error(waitingFor: .requestBody)
        case .sent:
            let wait = NetworkError.Wait.responseHead
            return NetworkError(.timedOut, reason: "waited for \(wait) for \(waited)", waitedFor: wait)
        }
    }
}
