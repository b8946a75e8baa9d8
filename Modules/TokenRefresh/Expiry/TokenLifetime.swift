import AuthInterface
import Foundation

/// The lifetime of an access token, from the sending of the call that brought it.
///
/// The lifetime in the response comes first, then the claims of a JWT. The `exp` claim is an instant of the server's
/// clock, so it is compared with another instant of that clock: the `Date` of the response, or the token's own `iat`;
/// with the device's clock only when there is neither.
///
/// A lifetime that is not positive is ignored: the server has just issued the token. Such a token is used until it is
/// refused, like one without an expiry, so that a device with a wrong clock does not refresh before every request
/// (G19).
struct TokenLifetime {
    /// The lifetime; `nil` when none is known or plausible.
    let duration: Duration?

    /// Whether the device's wall clock has no part in it.
    let isCertain: Bool

    /// The expiry as the server writes it, where it cannot be placed in time and nothing else says it.
    let unreadExpiry: String?

    init(of result: TokenRefreshResult, sentAt sent: Instant, _ clock: MachineClock) {
        let isSaid = result.expiresIn != nil || result.expiresAt != nil
        let claims = isSaid ? nil : JSONWebTokenClaims(result.accessToken)
        unreadExpiry = result.unreadExpiry ?? claims?.unreadExpiry
        let issued = result.serverDate ?? claims?.issuedAt ?? clock.serverClock.date(at: sent)
        let end = (result.expiresAt ?? claims?.expiresAt).flatMap { $0.isPlausible ? $0 : nil }
        let claimed = end.map { Duration.seconds($0.timeIntervalSince(issued)) }
        let isDated = result.expiresIn != nil || result.serverDate != nil || claims?.issuedAt != nil
        isCertain = clock.serverClock.isKnown || isDated
        let limit = clock.policy.maximumLifetime
        duration = (result.expiresIn ?? claimed).flatMap { $0 > .zero && $0 <= limit ? $0 : nil }
    }
}

extension TokenBundle {
    /// The first bundle of a session, or the one after an `old` one. Without a new refresh token in the response the
    /// old one stays.
    init(
        _ result: TokenRefreshResult, session: SessionID, _ ordinal: SessionOrdinal, after old: TokenBundle? = nil,
        lifetime: Duration?, _ clock: ServerClock, _ now: Instant
    ) {
        let new = result.refreshToken.flatMap { $0.isEmpty ? nil : $0 }
        self.init(
            accessToken: result.accessToken,
            refreshToken: new ?? old?.refreshToken,
            expiresAt: lifetime.map { clock.date(at: now) + $0 / .seconds(1) },
            clockSkew: clock.skew(at: now) ?? 0,
            session: session,
            generation: old.map { $0.generation + 1 } ?? 0,
            receivedAt: lifetime.map { _ in clock.date(at: now) },
            signedInAt: old == nil ? now.date : old?.signedInAt,
            binding: result.binding ?? old?.binding,
            subject: result.subject ?? old?.subject,
            scope: result.scope ?? result.requestedScope ?? old?.scope,
            ordinal: ordinal
        )
    }
}

/// The two claims of a JSON Web Token (RFC 7519 §4.1) that give its lifetime.
///
/// The payload is decoded and not verified: a client cannot verify its own token. A text that is not a valid JWT has no
/// claims.
struct JSONWebTokenClaims {
    /// The longest token that is decoded, in bytes.
    static let maximumLength = 64 * 1024

    let expiresAt: Date?
    let issuedAt: Date?
    /// The expiry as the token writes it, where it cannot be placed in time.
    let unreadExpiry: String?

    init?(_ token: String) {
        guard token.utf8.count <= Self.maximumLength else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Data(base64URL: parts[1]) else { return nil }
        guard let claims = try? JSONDecoder().decode(Payload.self, from: payload) else { return nil }
        expiresAt = claims.exp?.date
        issuedAt = claims.iat?.date
        unreadExpiry = claims.exp.flatMap { $0.date == nil ? $0.shown : nil }
    }

    private struct Payload: Decodable {
        let exp: NumericDate?
        let iat: NumericDate?
    }

    /// Seconds since 1970, fractions allowed (RFC 7519 §2), or what some servers write in their place: a text of them,
    /// or milliseconds, which are no date before the year 5138 as seconds. Anything else costs nothing but itself.
    private struct NumericDate: Decodable {
        let date: Date?
        /// A few characters of the number or the text, for a log.
        let shown: String?

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            let text = try? value.decode(String.self)
            let number = text.map { Double($0) } ?? (try? value.decode(Double.self))
            let written = text ?? number.map { "\($0)" }
            shown = written.map { String($0.filter { "0123456789.+-eE".contains($0) }.prefix(40)) }
            switch number {
            case let seconds? where (0..<1e11).contains(seconds): date = Date(timeIntervalSince1970: seconds)
            case let milliseconds? where (1e11..<1e14).contains(milliseconds):
                date = Date(timeIntervalSince1970: milliseconds / 1_000)
            default: date = nil
            }
        }
    }
}

extension Data {
    /// Decodes base64url without padding (RFC 7515 §2).
    fileprivate init?(base64URL text: Substring) {
        var base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        self.init(base64Encoded: base64)
    }
}
