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

    enum Rotation: Sendable, Hashable {
        /// The successor, and the claims of the access token that goes with it.
        case rotated(Grant, AccessTokens.Claims)
        /// The successor that an earlier request committed, within the grace window.
        case replayed(Grant)
        /// The result of an earlier request with the same key: its successor, and the claims of its access token.
        case repeated(Grant, AccessTokens.Claims)
        /// Refused. The generation is known unless the token is unknown.
        case refused(Refusal, generation: Int?)
    }

    let succession: RefreshToken.Succession
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
            let successor = grant(family, refreshToken: succession.successor(of: token))
            let isPredecessor = record.generation == family.generation - 1
            if let keyDigest, keyDigest == record.keyDigest {
                guard isPredecessor, let claims = record.accessClaims else {
                    return .refused(.superseded, generation: record.generation)
                }
                return .repeated(successor, claims)
            }
            // The grace window is for the immediate predecessor only: the use of an older token shows that a second
            // client holds one of its successors.
            if isPredecessor, isWithinGrace(rotatedAt, now: now) { return .replayed(successor) }
            try revoke(&family, now: now, in: database)
            return .refused(.reused, generation: record.generation)
        }
        guard now < record.expiresAt else { return .refused(.expired, generation: record.generation) }

        family.generation += 1
        try family.update(database)
        let grant = grant(family, refreshToken: succession.successor(of: token))
        let accessClaims = claims(grant)
        record.rotatedAt = now
        record.keyDigest = keyDigest
        record.accessClaims = keyDigest == nil ? nil : accessClaims
        try record.update(database)
        try deleteHistory(before: record, now: now, in: database)
        try insert(grant, now: now, in: database)
        return .rotated(grant, accessClaims)
    }

    /// Deletes the results that only older tokens could return, and spent tokens past their expiry. A family then keeps
    /// one result, and at most as many digests as one token lifetime has rotations.
    private func deleteHistory(before predecessor: Stored.RefreshToken, now: Date, in database: Database) throws {
        let older =
            Column("familyID") == predecessor.familyID && Column("generation") < predecessor.generation
        _ = try Stored.RefreshToken.filter(older && Column("accessClaims") != nil)
            .updateAll(database, Column("accessClaims").set(to: nil))
        _ = try Stored.RefreshToken.filter(older && Column("expiresAt") <= now).deleteAll(database)
    }

    /// Revokes the family of a refresh token.
    ///
    /// - Returns: Whether the family existed and was not revoked before.
    func revokeFamily(ofToken token: String, now: Date, in database: Database) throws -> Bool {
        guard let record = try Stored.RefreshToken.fetchOne(database, key: RefreshToken.digest(of: token)) else {
            return false
        }
        return try revokeFamily(record.familyID, now: now, in: database)
    }

    /// Revokes a family.
    ///
    /// - Returns: Whether it existed and was not revoked before.
    func revokeFamily(_ id: String, now: Date, in database: Database) throws -> Bool {
        guard var family = try Stored.TokenFamily.fetchOne(database, key: id), family.revokedAt == nil else {
            return false
        }
        try revoke(&family, now: now, in: database)
        return true
    }

    private func revoke(_ family: inout Stored.TokenFamily, now: Date, in database: Database) throws {
        family.revokedAt = now
        try family.update(database)
    }

    private func isWithinGrace(_ rotatedAt: Date, now: Date) -> Bool {
        grace > .zero && now.timeIntervalSince(rotatedAt) <= grace.seconds
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
