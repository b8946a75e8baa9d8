import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore

/// How a client authenticates by its private key (`private_key_jwt`: RFC 7523 §2.2 and §3, OpenID Connect Core §9).
final class OAuth2ClientAssertion: Sendable {
    private let key: any SigningKey
    private let issuer: String
    private let keyID: String?
    private let lifetime: Duration
    private let clock: any TimeSource
    /// The last instant of the server's clock.
    private let known = Locked<SignedTime?>(nil)

    /// The thumbprint of the key's public half (RFC 7638).
    let thumbprint: String

    init(_ key: any SigningKey, issuer: String, keyID: String?, lifetime: Duration, clock: any TimeSource) {
        (self.key, self.issuer, self.keyID, self.lifetime, self.clock) = (key, issuer, keyID, lifetime, clock)
        thumbprint = key.publicKey.thumbprint
    }

    /// Signs that the client makes one call, now. Each assertion has an identifier of its own, so that no call repeats
    /// that of another one.
    ///
    /// - Throws: The errors of the key.
    func text(for client: String) async throws -> String {
        let issuedAt = Int64(signedTime.date.timeIntervalSince1970)
        let header = Header(alg: key.algorithm.rawValue, kid: keyID)
        let claims = Claims(
            iss: client, sub: client, aud: issuer, jti: UUID().uuidString, iat: issuedAt,
            exp: issuedAt + Int64(lifetime / .seconds(1)))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let content = "\(try encoder.encode(header).base64URL).\(try encoder.encode(claims).base64URL)"
        return "\(content).\(try await key.sign(Data(content.utf8)).base64URL)"
    }

    var signedTime: SignedTime { SignedTime(known.withLock { $0 }?.now ?? clock.date, by: clock) }

    /// Takes a time of the server's clock, where none is known.
    func suppose(_ time: SignedTime?) { known.withLock { $0 = $0 ?? time } }

    /// Notes the date of a response, whose request was sent at an uptime: the next call is dated by the server's clock
    /// (G19). A slow response sets no clock that is known.
    func note(_ date: Date?, sentAt sent: Duration) {
        guard let date else { return }
        let time = SignedTime(date, by: clock)
        let isSlow = time.uptime - sent > HTTPResponseHead.dateTolerance
        known.withLock { known in
            if !isSlow || known == nil { known = time }
        }
    }

    var uptime: Duration { clock.uptime }

    private struct Header: Encodable { let alg: String, kid: String?, typ = "JWT" }

    private struct Claims: Encodable { let iss: String, sub: String, aud: String, jti: String, iat: Int64, exp: Int64 }
}

extension OAuth2ClientAssertion: Hashable {
    /// Compares what is signed, and the keys by their public halves.
    static func == (first: OAuth2ClientAssertion, second: OAuth2ClientAssertion) -> Bool {
        first.thumbprint == second.thumbprint && first.issuer == second.issuer && first.keyID == second.keyID
            && first.lifetime == second.lifetime
    }

    func hash(into hasher: inout Hasher) { hasher.combine(thumbprint) }
}
