import ConcurrencyPrimitives
import Foundation
import NetworkCore

/// An instant on a server's clock (G19): when a proof of a key or the assertion of a client was signed, or when a
/// response was sent.
struct SignedTime: Sendable {
    /// The time on the server's clock, as far as it was known.
    let date: Date

    /// The same instant on a clock that no user sets.
    let uptime: Duration

    private let clock: any TimeSource

    init(_ date: Date, by clock: any TimeSource) { (self.date, self.clock, uptime) = (date, clock, clock.uptime) }

    /// The time on the server's clock now.
    var now: Date { date + (clock.uptime - uptime) / .seconds(1) }

    /// Whether a refusal shows another time. Both are whole seconds, and the server has written its own while the call
    /// was under way.
    func differs(from refusal: NetworkError) -> Bool {
        guard let difference = refusal.response?.serverDate?.timeIntervalSince(date) else { return false }
        return difference < -1 || difference > now.timeIntervalSince(date) + 1
    }
}

/// The clock of a server, which is no part of its description.
struct ShownClock: Sendable, Hashable {
    /// `nil`: no response has shown it.
    var shown: SignedTime?

    static func == (first: ShownClock, second: ShownClock) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
