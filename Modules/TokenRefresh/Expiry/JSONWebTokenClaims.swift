import Foundation

/// The two claims of a JSON Web Token (RFC 7519 §4.1) that give its lifetime.
///
/// The payload is decoded and not verified: a client cannot verify its own token. A text that is not a valid JWT has no
/// claims.
struct JSONWebTokenClaims {
    /// The longest token that is decoded, in bytes.
    static let maximumLength = 64 * 1024

    let expiresAt: Date?
    let issuedAt: Date?

    init?(_ token: String) {
        guard token.utf8.count <= Self.maximumLength else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Data(base64URL: parts[1]) else { return nil }
        guard let claims = try? JSONDecoder().decode(Payload.self, from: payload) else { return nil }
        expiresAt = claims.exp.flatMap(Self.date)
        issuedAt = claims.iat.flatMap(Self.date)
    }

    private struct Payload: Decodable {
        let exp: Double?
        let iat: Double?
    }

    /// NumericDate (RFC 7519 §2): seconds since 1970, fractions allowed. Years after 9999 are no dates.
    private static func date(_ seconds: Double) -> Date? {
        (0...253_402_300_799).contains(seconds) ? Date(timeIntervalSince1970: seconds) : nil
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
