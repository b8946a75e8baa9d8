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

    /// Why a refresh token was refused.
    enum Refusal: Error, Sendable, Hashable {
        /// This server never issued it.
        case unknown
        /// It was not used in its lifetime.
        case expired
        /// It was used before. Its family is now revoked.
        case reused
        /// It was used before with the same key, and its successor has been used since. The family is not revoked: the
        /// key shows that the same client used it.
        case superseded
        /// Its family was revoked before.
        case revoked
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

    /// Starts a family.
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
        _ token: String, keyDigest: Data?, now: Date, in database: Database,
        claims: (Grant) -> AccessTokens.Claims
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
