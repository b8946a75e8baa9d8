import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The time on the server's clock, once an answer has told it.
///
/// What is kept is the instant beside one of the clock that nobody can set. So the wall clock may be set afterwards, and
/// the server's time is still known (G19).
struct ServerClock: Hashable, Sendable {
    private struct Reading: Hashable, Sendable {
        let date: Date
        let uptime: Duration
    }

    private var told: Reading?

    var isKnown: Bool { told != nil }

    mutating func note(_ date: Date, at now: Instant) {
        told = Reading(date: date, uptime: now.uptime)
    }

    /// The time on the server's clock; on the device's where the server has not told it.
    func date(at now: Instant) -> Date {
        told.map { $0.date + (now.uptime - $0.uptime) / .seconds(1) } ?? now.date
    }

    /// How far the server's clock is ahead of the device's, in seconds.
    func skew(at now: Instant) -> TimeInterval? {
        isKnown ? date(at: now).timeIntervalSince(now.date) : nil
    }
}

extension TokenBundle {
    /// Whether the server's clock was known when the bundle was received, so that its expiry is an instant of that
    /// clock. Two clocks are never the same to the last bit.
    var isDatedByServer: Bool { clockSkew != 0 }
}
