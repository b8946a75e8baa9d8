import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The time on the server's clock, once a response has had a date.
///
/// The date is stored with the uptime of its receipt, which cannot be set. So the server's time stays known when the
/// wall clock is set (G19).
struct ServerClock: Hashable, Sendable {
    private struct Reading: Hashable, Sendable {
        let date: Date
        let uptime: Duration
    }

    private var reading: Reading?

    var isKnown: Bool { reading != nil }

    mutating func note(_ date: Date, at now: Instant) {
        reading = Reading(date: date, uptime: now.uptime)
    }

    /// The time on the server's clock; on the device's clock while no response has had a date.
    func date(at now: Instant) -> Date {
        reading.map { $0.date + (now.uptime - $0.uptime) / .seconds(1) } ?? now.date
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
