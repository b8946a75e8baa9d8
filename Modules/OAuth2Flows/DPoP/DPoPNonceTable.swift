import AuthInterface
import Foundation
import NetworkCore

/// The last nonce and the clock of each server, for each key (RFC 9449 §8, §9). The last response wins.
struct DPoPNonceTable: Sendable {
    /// The longest nonce that is kept, in bytes. A longer one is ignored.
    static let longestNonce = 1_024

    /// The most servers for each key. The one whose last response is oldest gives way.
    static let maximumServers = 16

    /// The most keys. One more takes the place of another one, whose stored nonces count again.
    static let maximumKeys = 4_096

    /// An instant on both clocks of the device.
    struct Moment: Sendable {
        let uptime: Duration
        let date: Date
    }

    private struct Entry {
        /// `nil`: the server has responded to a proof, and has named none.
        var nonce: String?
        /// When the nonce, or the first response without one, was received. The uptime is `nil` where an earlier
        /// process received it.
        var receivedAt: (uptime: Duration?, date: Date)
        /// The server's clock at an instant of the device's uptime; `nil` where an earlier process read it.
        var serverClock: (date: Date, uptime: Duration)?
        var storedSkew: TimeInterval?

        var hasClock: Bool { serverClock != nil || storedSkew != nil }

        /// The age of the nonce. On a clock that the user may set, it can be negative.
        func age(at now: Moment) -> Duration {
            receivedAt.uptime.map { now.uptime - $0 } ?? .seconds(now.date.timeIntervalSince(receivedAt.date))
        }
    }

    private var entries: [String: [String: Entry]] = [:]

    /// Takes the nonces of a session that was stored, where they are newer than those that this process has received:
    /// another process has refreshed since. A date of the future is that of a clock which was set back.
    mutating func restore(_ binding: TokenBinding, at now: Moment) {
        for (origin, nonce) in binding.nonces {
            let known = entries[binding.thumbprint]?[origin]
            if let known {
                guard nonce.value != nil, nonce.date > known.receivedAt.date, nonce.date <= now.date else { continue }
            }
            let isValid = nonce.value.map(Self.isValid) ?? true
            guard isValid, Self.isPlausible(nonce) else { continue }
            makeRoom(for: binding.thumbprint)
            entries[binding.thumbprint, default: [:]][origin] = Entry(
                nonce: nonce.value, receivedAt: (nil, nonce.date), serverClock: known?.serverClock,
                storedSkew: nonce.clockSkew)
        }
    }

    /// Notes a response to a request with a proof, sent at an uptime. A slow response sets no clock that is known.
    mutating func note(
        _ nonce: String?, serverDate: Date?, of origin: String, _ thumbprint: String, sentAt sent: Duration? = nil,
        at now: Moment
    ) {
        var servers = entries[thumbprint] ?? [:]
        let nonce = nonce.flatMap { Self.isValid($0) ? $0 : nil }
        var entry = servers[origin] ?? Entry(nonce: nil, receivedAt: (now.uptime, now.date))
        if let nonce { (entry.nonce, entry.receivedAt) = (nonce, (now.uptime, now.date)) }
        let isSlow = sent.map { now.uptime - $0 > HTTPResponseHead.dateTolerance } ?? false
        if let serverDate, !isSlow || !entry.hasClock {
            entry.serverClock = (serverDate, now.uptime)
        }
        servers[origin] = entry
        if servers.count > Self.maximumServers,
            let oldest = servers.filter({ $0.key != origin }).min(by: { $0.value.age(at: now) > $1.value.age(at: now) })
        {
            servers[oldest.key] = nil
        }
        makeRoom(for: thumbprint)
        entries[thumbprint] = servers
    }

    private mutating func makeRoom(for thumbprint: String) {
        let isFull = entries.count >= Self.maximumKeys && entries[thumbprint] == nil
        if isFull, let other = entries.keys.first { entries[other] = nil }
    }

    func nonce(of origin: String, _ thumbprint: String) -> String? { entries[thumbprint]?[origin]?.nonce }

    /// Whether a nonce is to be fetched before a call that must not fail for the lack of one: none is known, or the
    /// last one is older than a limit. A server that has named none wants none.
    func needsNonce(of origin: String, _ thumbprint: String, limit: Duration, at now: Moment) -> Bool {
        guard let entry = entries[thumbprint]?[origin] else { return true }
        guard entry.nonce != nil else { return false }
        let age = entry.age(at: now)
        return age < .zero || age >= limit
    }

    /// Whether a server's clock is known.
    func knowsClock(of origin: String, _ thumbprint: String) -> Bool { entries[thumbprint]?[origin]?.hasClock ?? false }

    /// The time on a server's clock (G19): that of its last response, and the time since on a clock that no user sets.
    func serverDate(of origin: String, _ thumbprint: String, at now: Moment) -> Date {
        guard let entry = entries[thumbprint]?[origin] else { return now.date }
        guard let clock = entry.serverClock else { return now.date + (entry.storedSkew ?? 0) }
        return clock.date + (now.uptime - clock.uptime) / .seconds(1)
    }

    /// What is stored with the session.
    func binding(_ thumbprint: String, at now: Moment) -> TokenBinding {
        let nonces = (entries[thumbprint] ?? [:]).map { origin, entry in
            let skew = serverDate(of: origin, thumbprint, at: now).timeIntervalSince(now.date)
            return (origin, ProofNonce(value: entry.nonce, date: entry.receivedAt.date, clockSkew: skew))
        }
        return TokenBinding(thumbprint: thumbprint, nonces: Dictionary(uniqueKeysWithValues: nonces))
    }

    mutating func forget(_ thumbprint: String) { entries[thumbprint] = nil }

    /// Whether a clock can have shown the date and the difference, of which the time of a proof is made.
    private static func isPlausible(_ nonce: ProofNonce) -> Bool {
        (0...253_402_300_799).contains(nonce.date.timeIntervalSince1970) && abs(nonce.clockSkew) < 1e10
    }

    /// The characters of a nonce (RFC 9449 §8.1).
    private static func isValid(_ nonce: String) -> Bool {
        !nonce.isEmpty && nonce.utf8.count <= longestNonce
            && nonce.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
}
