import AuthInterface
import Foundation

/// How long an access token that has just been issued is good, from its receipt.
///
/// What the server says beside the token comes first. Where it says nothing, a JWT says it itself (T11). Its `exp` is an
/// instant of the server's clock, so it is compared with another instant of that clock: the `Date` of the answer, or
/// the token's own `iat`; with the device's clock only when there is neither.
///
/// A lifetime that is not positive is not believed: the server has just issued the token, so it cannot be over. Such a
/// token is used until it is refused, as one without an expiry is. That is what keeps a device with a wrong clock from
/// refreshing before every request (G19).
struct TokenLifetime {
    /// The lifetime from receipt; `nil` when nothing believable is known.
    let duration: Duration?

    init(of result: TokenRefreshResult, receivedAt date: Date, limit: Duration) {
        let isSaid = result.expiresIn != nil || result.expiresAt != nil
        let claims = isSaid ? nil : JSONWebTokenClaims(result.accessToken)
        let issued = result.serverDate ?? claims?.issuedAt ?? date
        let end = (result.expiresAt ?? claims?.expiresAt).flatMap { $0.isPlausible ? $0 : nil }
        let claimed = end.map { Duration.seconds($0.timeIntervalSince(issued)) }
        duration = (result.expiresIn ?? claimed).flatMap { $0 > .zero && $0 <= limit ? $0 : nil }
    }
}

extension TokenBundle {
    /// The bundle a login begins with.
    init(
        _ result: TokenRefreshResult,
        session: SessionID,
        lifetime: Duration?,
        _ clock: ServerClock,
        _ now: Instant
    ) {
        self.init(result, refreshToken: nil, session: session, generation: 0, lifetime: lifetime, clock, now)
    }

    /// The bundle that a refresh makes of this one. A server that sends no refresh token lets the old one stay.
    func renewed(
        by result: TokenRefreshResult,
        lifetime: Duration?,
        _ clock: ServerClock,
        _ now: Instant
    ) -> TokenBundle {
        TokenBundle(
            result,
            refreshToken: refreshToken,
            session: session,
            generation: generation + 1,
            lifetime: lifetime,
            clock,
            now
        )
    }

    private init(
        _ result: TokenRefreshResult,
        refreshToken old: String?,
        session: SessionID,
        generation: Int,
        lifetime: Duration?,
        _ clock: ServerClock,
        _ now: Instant
    ) {
        let new = result.refreshToken.flatMap { $0.isEmpty ? nil : $0 }
        self.init(
            accessToken: result.accessToken,
            refreshToken: new ?? old,
            expiresAt: lifetime.map { clock.date(at: now) + $0 / .seconds(1) },
            clockSkew: clock.skew(at: now) ?? 0,
            session: session,
            generation: generation,
            receivedAt: lifetime.map { _ in clock.date(at: now) }
        )
    }
}

extension String {
    /// Whether a header field can carry the text (RFC 9110 §5.5): not empty, printable ASCII, no space.
    ///
    /// Anything else would be refused by the server at best, and at worst make two header fields of one.
    var isHeaderSafe: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
