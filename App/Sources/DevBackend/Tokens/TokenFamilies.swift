import Crypto
import Foundation
import GRDB

/// The rules of rotation, inside a transaction that the caller opens.
///
/// The tokens of one sign-in descend from each other in a single line, the family. Presenting a spent token revokes the
/// family (RFC 9700 §4.14.2).
struct TokenFamilies: Sendable {
    /// The right to a refresh token and an access token.
    struct Grant: Sendable, Hashable {
        let userID: Int64
        let familyID: String
        let generation: Int
        let refreshToken: String
    }

    /// A refusal by its code in the envelope.
    enum Refusal: String, Sendable {
        case unknown = "REFRESH_TOKEN_INVALID"
        case expired = "REFRESH_TOKEN_EXPIRED"
        /// It was used before. Its family is now revoked.
        case reused = "REFRESH_TOKEN_REUSED"
        /// It was used before with the same key, and its successor has been used since. The family is not revoked: the
        /// key shows that the same client used it.
        case superseded = "REFRESH_TOKEN_SUPERSEDED"
        case revoked = "SESSION_REVOKED"

        var message: String {
            switch self {
            case .unknown: "The refresh token is unknown."
            case .expired: "The refresh token has expired."
            case .reused: "The refresh token was used before; the session has ended."
            case .superseded: "The refresh token and its successor were used before."
            case .revoked: "The session has ended."
            }
        }
    }

    enum Rotation: Sendable {
        /// The successor, the claims of the access token that goes with it, and what it counts as.
        case granted(Grant, AccessTokens.Claims, any WritableKeyPath<ServerStatistics, Int> & Sendable)
        /// Refused. The generation is known unless the token is unknown.
        case refused(Refusal, generation: Int?)
    }

    let successionKey: SymmetricKey
    let lifetime: Duration
    let grace: Duration

    func start(for userID: Int64, now: Date, in database: Database) throws -> Grant {
        let family = Stored.TokenFamily(
            id: UUID().uuidString.lowercased(), userID: userID, generation: 0, createdAt: now)
        try family.insert(database)
        let grant = Grant(
            userID: userID, familyID: family.id, generation: 0, refreshToken: RefreshToken.random())
        try insert(grant, now: now, in: database)
        return grant
    }

    /// Exchanges a refresh token for its successor.
    ///
    /// With the digest of a key the result is recorded: the same key with the same token returns it again until the
    /// successor is spent. A refusal is returned, not thrown: a reuse must commit the revocation, and a throw would
    /// roll it back.
    func rotate(
        _ token: String, keyDigest: Data?, now: Date, in database: Database, claims: (Grant) -> AccessTokens.Claims
    ) throws -> Rotation {
        let digest = RefreshToken.digest(of: token)
        guard
            var record = try Stored.RefreshToken.fetchOne(database, key: digest),
            var family = try Stored.TokenFamily.fetchOne(database, key: record.familyID)
        else { return .refused(.unknown, generation: nil) }
        guard family.revokedAt == nil else { return .refused(.revoked, generation: record.generation) }

        if let rotatedAt = record.rotatedAt {
            let successor = grant(family, refreshToken: RefreshToken.successor(of: token, under: successionKey))
            let isPredecessor = record.generation == family.generation - 1
            if let keyDigest, keyDigest == record.keyDigest {
                guard isPredecessor, let claims = record.accessClaims else {
                    return .refused(.superseded, generation: record.generation)
                }
                return .granted(successor, claims, \.refreshes.replayedByKey)
            }
            // The grace window is for the immediate predecessor only: the use of an older token shows that a second
            // client holds one of its successors.
            if isPredecessor, grace > .zero, now.timeIntervalSince(rotatedAt) <= grace.seconds {
                return .granted(successor, claims(successor), \.refreshes.replayedByGrace)
            }
            family.revokedAt = now
            try family.update(database)
            return .refused(.reused, generation: record.generation)
        }
        guard now < record.expiresAt else { return .refused(.expired, generation: record.generation) }

        family.generation += 1
        try family.update(database)
        let grant = grant(family, refreshToken: RefreshToken.successor(of: token, under: successionKey))
        let accessClaims = claims(grant)
        record.rotatedAt = now
        record.keyDigest = keyDigest
        record.accessClaims = keyDigest == nil ? nil : accessClaims
        try record.update(database)
        try insert(grant, now: now, in: database)
        return .granted(grant, accessClaims, \.refreshes.committed)
    }

    private func grant(_ family: Stored.TokenFamily, refreshToken: String) -> Grant {
        Grant(
            userID: family.userID, familyID: family.id, generation: family.generation, refreshToken: refreshToken)
    }

    private func insert(_ grant: Grant, now: Date, in database: Database) throws {
        let record = Stored.RefreshToken(
            digest: RefreshToken.digest(of: grant.refreshToken), familyID: grant.familyID,
            generation: grant.generation, expiresAt: now.addingTimeInterval(lifetime.seconds))
        try record.insert(database)
    }
}

/// The opaque strings that clients refresh with. The database holds only their digests.
enum RefreshToken {
    /// A family's first token: 256 random bits.
    static func random() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64URLEncodedString() }
    }

    /// What the database holds instead of the token.
    static func digest(of token: String) -> Data {
        Data(SHA256.hash(data: Data(token.utf8)))
    }

    /// A token's successor: HMAC-SHA256 (RFC 2104) under a key of the server, unpredictable without it.
    ///
    /// A grace window must return the same successor twice, yet only digests are stored. A client that presents the
    /// predecessor lets the server compute the successor again.
    static func successor(of token: String, under key: SymmetricKey) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)).base64URLEncodedString()
    }

    /// What the database holds instead of an `Idempotency-Key`. It may be easy to guess, so a plain digest would not
    /// hide it.
    static func keyDigest(of value: String, under key: SymmetricKey) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data("idempotency-key:\(value)".utf8), using: key))
    }
}

extension Data {
    /// The text in the alphabet of RFC 4648 §5, without padding.
    func base64URLEncodedString() -> String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    init?(base64URLEncoded text: String) {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}
