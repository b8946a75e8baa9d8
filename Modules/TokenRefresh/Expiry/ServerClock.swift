import AuthInterface
import Foundation

/// The time on the server's clock, once a response has had a date.
///
/// The date is stored with the uptime of its receipt, which cannot be set. So the server's time stays known when the
/// wall clock is set (G19).
struct ServerClock: Hashable, Sendable {
    /// The date of a response, at the uptime of its receipt.
    private var reading: Instant?

    var isKnown: Bool { reading != nil }

    /// The date of a response is somewhere between its request and its receipt: a slow one does not replace a reading.
    private static let precision: Duration = .seconds(5)

    /// Notes the date of a response, and returns the server's time when its request was sent, as far as that is known.
    @discardableResult
    mutating func record(_ date: Date, sentAt sent: Instant? = nil, at now: Instant) -> Date {
        if isKnown, let sent, now.uptime - sent.uptime > Self.precision { return self.date(at: sent) }
        reading = Instant(uptime: now.uptime, date: date)
        return date
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

    /// Whether its expiry is an instant of the device's clock: the server's clock was not known when it was received. A
    /// bundle that does not say when that was comes from another program, and its expiry from the server.
    var isDatedByDevice: Bool { !isDatedByServer && receivedAt != nil }

    /// An access token that can be sent, or a refresh token.
    var hasToken: Bool { accessToken.fitsHeaderField || refreshToken?.isEmpty == false }

    /// Whether it has a plausible generation and, where it needs one, a token. Any other bundle counts as unreadable,
    /// and so does one with a date that is no number: it does not equal itself.
    func isUsable(needsToken: Bool) -> Bool {
        (hasToken || !needsToken) && Self.generations.contains(generation) && self == self
    }
}

/// The limits within which values from servers and stores are used. Arithmetic with other values could stop the
/// process.
extension Date {
    /// Whether a clock can show this date: a number, from 1970 to the year 9999.
    var isPlausible: Bool { (0...253_402_300_799).contains(timeIntervalSince1970) }
}

extension TokenRefreshResult {
    /// The most bytes of a scope. A longer one counts as omitted.
    static let maximumScopeLength = 8_192

    /// The result without a server date that is no date, and without a scope that is none.
    var plausible: TokenRefreshResult {
        var result = self
        if serverDate?.isPlausible == false { result.serverDate = nil }
        if let scope, scope.isEmpty || scope.utf8.count > Self.maximumScopeLength { result.scope = nil }
        return result
    }

    /// G31. What was asked for and not granted, where the scope is narrower.
    func missingScope(of asked: String?) -> Set<String> {
        guard let scope, let asked = requestedScope ?? asked else { return [] }
        return asked.scopeTokens.subtracting(scope.scopeTokens)
    }
}

extension String {
    /// The parts of a scope (RFC 6749 §3.3).
    fileprivate var scopeTokens: Set<String> { Set(split(separator: " ").map(String.init)) }
}
