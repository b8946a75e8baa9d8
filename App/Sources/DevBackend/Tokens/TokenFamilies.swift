import Foundation
import GRDB

/// The right to one access token and the refresh token that goes with it.
struct TokenGrant: Sendable, Hashable {
    let userID: Int64
    let familyID: String
    let generation: Int
    let refreshToken: String
}

/// Why a refresh token earned nothing.
enum RefreshRefusal: Error, Sendable, Hashable {
    /// This server never issued it.
    case unknown
    /// It was issued, unused, too long ago.
    case expired
    /// It had been used before. Its family is now revoked.
    case reused
    /// It had been used before with the same key, and its successor has been used since. Its family lives on: the
    /// key shows that the holder is the one that spent it.
    case superseded
    /// Its family had been revoked before.
    case revoked
}

/// The rules of rotation, inside a transaction the caller opens. Tokens descend from one sign-in in a single line,
/// the family; whoever presents a spent one ends the line (RFC 9700 §4.14.2).
struct TokenFamilies: Sendable {
    enum Rotation: Sendable, Hashable {
        /// The successor, and what the access token beside it says.
        case rotated(TokenGrant, AccessClaims)
        /// The successor that an earlier request committed, within the grace window.
        case replayed(TokenGrant)
        /// The result of an earlier request with the same key: its successor, and what its access token says.
        case repeated(TokenGrant, AccessClaims)
        /// Refused. The presented token's generation is known unless the token itself is unknown.
        case refused(RefreshRefusal, generation: Int?)
    }

    let succession: RefreshTokenSuccession
    let lifetime: Duration
    let grace: Duration

    /// Begins a family.
    func begin(for userID: Int64, now: Date, in database: Database) throws -> TokenGrant {
        let family = TokenFamilyRecord(
            id: UUID().uuidString.lowercased(), userID: userID, generation: 0, createdAt: now)
        try family.insert(database)
        let grant = TokenGrant(
            userID: userID, familyID: family.id, generation: 0, refreshToken: RefreshToken.random())
        try insert(grant, now: now, in: database)
        return grant
    }

    /// Spends a refresh token for its successor.
    ///
    /// With the digest of a key, the result is recorded: the same key with the same token earns it again until the
    /// successor is spent. Refusals are returned, not thrown: a re-use must commit the revocation, and a throw would
    /// roll it back.
    func rotate(
        _ token: String, keyDigest: Data?, now: Date, in database: Database,
        claims: (TokenGrant) -> AccessClaims
    ) throws -> Rotation {
        let digest = RefreshToken.digest(of: token)
        guard
            var record = try RefreshTokenRecord.fetchOne(database, key: digest),
            var family = try TokenFamilyRecord.fetchOne(database, key: record.familyID)
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
            // Only the immediate predecessor is forgiven: an older one shows that its successor was used by a second
            // holder.
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
        try forget(before: record, now: now, in: database)
        try insert(grant, now: now, in: database)
        return .rotated(grant, accessClaims)
    }

    /// Drops what only the predecessor of the current token can earn, and tokens spent so long ago that they would have
    /// expired unspent. A family then keeps one result, and no more digests than one token lifetime has rotations.
    private func forget(before predecessor: RefreshTokenRecord, now: Date, in database: Database) throws {
        let older =
            Column("familyID") == predecessor.familyID && Column("generation") < predecessor.generation
        _ = try RefreshTokenRecord.filter(older && Column("accessClaims") != nil)
            .updateAll(database, Column("accessClaims").set(to: nil))
        _ = try RefreshTokenRecord.filter(older && Column("expiresAt") <= now).deleteAll(database)
    }

    /// Revokes the family a refresh token belongs to.
    ///
    /// - Returns: whether there was one that was not revoked yet.
    func revokeFamily(ofToken token: String, now: Date, in database: Database) throws -> Bool {
        guard let record = try RefreshTokenRecord.fetchOne(database, key: RefreshToken.digest(of: token)) else {
            return false
        }
        return try revokeFamily(record.familyID, now: now, in: database)
    }

    /// Revokes a family.
    ///
    /// - Returns: whether it existed and was not revoked yet.
    func revokeFamily(_ id: String, now: Date, in database: Database) throws -> Bool {
        guard var family = try TokenFamilyRecord.fetchOne(database, key: id), family.revokedAt == nil else {
            return false
        }
        try revoke(&family, now: now, in: database)
        return true
    }

    private func revoke(_ family: inout TokenFamilyRecord, now: Date, in database: Database) throws {
        family.revokedAt = now
        try family.update(database)
    }

    private func isWithinGrace(_ rotatedAt: Date, now: Date) -> Bool {
        grace > .zero && now.timeIntervalSince(rotatedAt) <= grace.seconds
    }

    private func grant(_ family: TokenFamilyRecord, refreshToken: String) -> TokenGrant {
        TokenGrant(
            userID: family.userID, familyID: family.id, generation: family.generation, refreshToken: refreshToken)
    }

    private func insert(_ grant: TokenGrant, now: Date, in database: Database) throws {
        let record = RefreshTokenRecord(
            digest: RefreshToken.digest(of: grant.refreshToken), familyID: grant.familyID,
            generation: grant.generation, expiresAt: now.addingTimeInterval(lifetime.seconds))
        try record.insert(database)
    }
}
