import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

/// The sign-ins that a user has not finished: device codes (RFC 8628) and authorization codes (RFC 6749 §4.1).
///
/// They are in memory: a restart ends them, and no session.
final class PendingAuthorizations: Sendable {
    /// What a user has decided about a device code.
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

    /// The most sign-ins at once.
    private static let capacity = 1_000
    private static let codeLifetime: TimeInterval = 60
    /// No vowels, and no characters that look alike (RFC 8628 §6.1).
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ")

    let deviceLifetime: Duration
    let interval: Duration
    private let now: @Sendable () -> Date
    private let state = NIOLockedValueBox(State())

    init(deviceLifetime: Duration, interval: Duration, now: @escaping @Sendable () -> Date) {
        self.deviceLifetime = deviceLifetime
        self.interval = interval
        self.now = now
    }

    /// Starts a device sign-in.
    ///
    /// - Throws: `temporarily_unavailable` when there are too many.
    func startDevice() throws(OAuth2Error) -> (deviceCode: String, userCode: String) {
        let now = now()
        let codes: (String, String)? = state.withLockedValue { state in
            state.devices = state.devices.filter { $0.value.expiresAt > now }
            guard state.devices.count < Self.capacity else { return nil }
            let letters = String((0..<8).map { _ in Self.alphabet.randomElement() ?? "B" })
            let userCode = "\(letters.prefix(4))-\(letters.suffix(4))"
            let deviceCode = RefreshToken.random()
            state.devices[deviceCode] = Device(
                userCode: userCode, expiresAt: now + deviceLifetime.seconds, interval: interval.seconds)
            return (deviceCode, userCode)
        }
        guard let codes else {
            throw OAuth2Error(.serviceUnavailable, "temporarily_unavailable", "There are too many sign-ins.")
        }
        return codes
    }

    /// Records what the user of a code has decided. Case, spaces and hyphens of the code are ignored.
    ///
    /// - Returns: Whether the code is known and undecided.
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
    func user(ofDevice deviceCode: String) throws(OAuth2Error) -> String {
        let now = now()
        let result: Result<String, OAuth2Error> = state.withLockedValue { state in
            guard var device = state.devices[deviceCode] else {
                return .failure(.invalidGrant("The device code is unknown."))
            }
            guard now < device.expiresAt else {
                state.devices[deviceCode] = nil
                return .failure(OAuth2Error(.badRequest, "expired_token", "The device code has expired."))
            }
            let isEarly = device.lastPoll.map { now.timeIntervalSince($0) < device.interval } ?? false
            device.lastPoll = now
            if isEarly { device.interval += 5 }
            state.devices[deviceCode] = device
            if isEarly { return .failure(OAuth2Error(.badRequest, "slow_down", "The client polls too often.")) }
            switch device.decision {
            case .pending:
                return .failure(OAuth2Error(.badRequest, "authorization_pending", "The user has not decided."))
            case .denied:
                state.devices[deviceCode] = nil
                return .failure(OAuth2Error(.badRequest, "access_denied", "The user refused."))
            case .allowed(let user):
                state.devices[deviceCode] = nil
                return .success(user)
            }
        }
        return try result.get()
    }

    /// Issues an authorization code.
    func issueCode(for user: String, redirectURI: String, challenge: String) -> String {
        let now = now()
        let code = RefreshToken.random()
        state.withLockedValue { state in
            // A used code is remembered for as long as another use must be noticed.
            state.codes = state.codes.filter { $0.value.expiresAt + 600 > now }
            state.codes[code] = Code(
                user: user, redirectURI: redirectURI, challenge: challenge, expiresAt: now + Self.codeLifetime)
        }
        return code
    }

    /// Takes an authorization code; it is used from now on.
    ///
    /// - Returns: The code as it was before; nil when it is unknown.
    func takeCode(_ text: String) -> Code? {
        state.withLockedValue { state in
            let code = state.codes[text]
            state.codes[text]?.isUsed = true
            return code
        }
    }

    /// Records the family that a code has started.
    func note(_ familyID: String, of code: String) {
        state.withLockedValue { $0.codes[code]?.familyID = familyID }
    }

    func isExpired(_ code: Code) -> Bool { code.expiresAt <= now() }
}
