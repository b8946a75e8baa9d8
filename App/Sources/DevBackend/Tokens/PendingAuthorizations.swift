import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

/// The sign-ins that a user has not finished: device codes (RFC 8628) and authorization codes (RFC 6749 §4.1).
///
/// They are in memory: a restart ends them, and no session.
final class PendingAuthorizations: Sendable {
    enum Decision: Sendable, Hashable {
        case pending
        case denied
        case allowed(user: String)
    }

    /// A code that a browser has brought to a client.
    struct Code: Sendable {
        let user: String
        let redirectURI: String
        let challenge: String
        let expiresAt: Date
        var isUsed = false
        /// The family that the code has started, to be revoked if the code is used again.
        var familyID: String?
    }

    private struct Device {
        let userCode: String
        let expiresAt: Date
        var interval: TimeInterval
        var lastPoll: Date?
        var decision = Decision.pending
    }

    private struct State {
        var devices: [String: Device] = [:]
        var codes: [String: Code] = [:]
    }

    static let deviceLifetime = Duration.seconds(600)
    private static let codeLifetime: TimeInterval = 60
    /// No vowels, and no characters that look alike (RFC 8628 §6.1).
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ")

    let interval: Duration
    private let now: @Sendable () -> Date
    private let state = NIOLockedValueBox(State())

    init(interval: Duration, now: @escaping @Sendable () -> Date) {
        self.interval = interval
        self.now = now
    }

    func startDevice() -> (deviceCode: String, userCode: String) {
        let letters = String((0..<8).map { _ in Self.alphabet.randomElement() ?? "B" })
        let (deviceCode, userCode) = (RefreshToken.random(), "\(letters.prefix(4))-\(letters.suffix(4))")
        let device = Device(
            userCode: userCode, expiresAt: now() + Self.deviceLifetime.seconds, interval: interval.seconds)
        state.withLockedValue { $0.devices[deviceCode] = device }
        return (deviceCode, userCode)
    }

    /// Records what the user of a code has decided, if the code is known and undecided. Case, spaces and hyphens of the
    /// code are ignored.
    func decide(_ userCode: String, _ decision: Decision) -> Bool {
        func plain(_ text: String) -> String { text.uppercased().filter(\.isLetter) }
        let now = now()
        return state.withLockedValue { state in
            let entry = state.devices.first { plain($0.value.userCode) == plain(userCode) && $0.value.expiresAt > now }
            guard let entry, entry.value.decision == .pending else { return false }
            state.devices[entry.key]?.decision = decision
            return true
        }
    }

    /// The user of a device code, once the user has allowed it. A code is valid once.
    ///
    /// - Throws: `authorization_pending`, `slow_down`, `access_denied` or `expired_token` (RFC 8628 §3.5), or
    ///   `invalid_grant`.
    func user(ofDevice deviceCode: String) throws -> String {
        let now = now()
        return try state.withLockedValue { state in
            guard var device = state.devices[deviceCode] else {
                throw OAuth2Error.invalidGrant("The device code is unknown.")
            }
            let isEarly = device.lastPoll.map { now.timeIntervalSince($0) < device.interval } ?? false
            device.lastPoll = now
            if isEarly { device.interval += 5 }
            state.devices[deviceCode] = device
            guard now < device.expiresAt else {
                throw OAuth2Error(.badRequest, "expired_token", "The device code has expired.")
            }
            guard !isEarly else { throw OAuth2Error(.badRequest, "slow_down", "The client polls too often.") }
            switch device.decision {
            case .pending: throw OAuth2Error(.badRequest, "authorization_pending", "The user has not decided.")
            case .denied: throw OAuth2Error(.badRequest, "access_denied", "The user refused.")
            case .allowed(let user):
                state.devices[deviceCode] = nil
                return user
            }
        }
    }

    func issueCode(for user: String, redirectURI: String, challenge: String) -> String {
        let code = RefreshToken.random()
        let entry = Code(
            user: user, redirectURI: redirectURI, challenge: challenge, expiresAt: now() + Self.codeLifetime)
        state.withLockedValue { $0.codes[code] = entry }
        return code
    }

    /// Takes an authorization code, as it was before; nil when it is unknown. Another use of it is noticed.
    func takeCode(_ text: String) -> Code? {
        state.withLockedValue { state in
            let code = state.codes[text]
            state.codes[text]?.isUsed = true
            return code
        }
    }

    func note(_ familyID: String, of code: String) {
        state.withLockedValue { $0.codes[code]?.familyID = familyID }
    }

    func isExpired(_ code: Code) -> Bool { code.expiresAt <= now() }
}
