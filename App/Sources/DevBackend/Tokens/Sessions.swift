import Foundation
import GRDB
import HTTPTypes

/// What a sign-in or a refresh hands out.
struct TokenPair: Encodable, Sendable {
    let accessToken: String
    let refreshToken: String
    /// Seconds until the access token expires; not a member of the envelope's payload.
    let expiresIn: Int

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken
    }
}

/// Begins, refreshes and ends sessions: token families in the database, access tokens beside them.
struct Sessions: Sendable {
    let database: BackendDatabase
    let families: TokenFamilies
    let accessTokens: AccessTokens
    let ledger: RequestLedger
    let now: @Sendable () -> Date

    /// An access token to go with a family's refresh token.
    func pair(for grant: TokenGrant) async throws -> TokenPair {
        let now = now()
        return try await pair(for: grant, accessTokens.claims(for: grant, epoch: database.epoch, now: now), now: now)
    }

    private func pair(for grant: TokenGrant, _ claims: AccessClaims, now: Date) async throws -> TokenPair {
        TokenPair(
            accessToken: try await accessTokens.sign(claims), refreshToken: grant.refreshToken,
            expiresIn: accessTokens.expiresIn(claims, now: now))
    }

    /// Spends a refresh token for a new pair, in one transaction.
    ///
    /// A request with a key can be repeated: see `TokenFamilies.rotate`.
    ///
    /// - Throws: `RefreshRefusal` when the token earns nothing.
    func refresh(_ token: String, key: RefreshKey?, in exchange: Exchange) async throws -> TokenPair {
        let now = now()
        let keyDigest = key?.digest(under: families.succession.key)
        let epoch = database.epoch
        let rotation = try await database.writer.write { [families, accessTokens] database in
            try families.rotate(token, keyDigest: keyDigest, now: now, in: database) { grant in
                accessTokens.claims(for: grant, epoch: epoch, now: now)
            }
        }
        switch rotation {
        case .rotated(let grant, let claims):
            note(grant, \.refreshes.committed, exchange)
            return try await pair(for: grant, claims, now: now)
        case .replayed(let grant):
            note(grant, \.refreshes.replayedByGrace, exchange)
            return try await pair(for: grant)
        case .repeated(let grant, let claims):
            note(grant, \.refreshes.replayedByKey, exchange)
            return try await pair(for: grant, claims, now: now)
        case .refused(let refusal, let generation):
            ledger.count(refusal == .reused ? \.refreshes.reuseDetected : \.refreshes.rejected)
            if let generation { ledger.noteGeneration(generation, of: exchange.sequence) }
            throw refusal
        }
    }

    /// Counts a refresh and enters the generation of the token that was presented.
    private func note(
        _ grant: TokenGrant, _ counter: any WritableKeyPath<ServerStatistics, Int> & Sendable, _ exchange: Exchange
    ) {
        ledger.count(counter)
        ledger.noteGeneration(grant.generation - 1, of: exchange.sequence)
    }

    /// Ends the session a refresh token belongs to; an unknown token or an ended session is no error.
    func end(refreshToken token: String) async throws {
        let now = now()
        let wasLive = try await database.writer.write { [families] database in
            try families.revokeFamily(ofToken: token, now: now, in: database)
        }
        if wasLive { ledger.count(\.logouts) }
    }

    /// Ends a session by its family.
    func end(family id: String) async throws {
        let now = now()
        let wasLive = try await database.writer.write { [families] database in
            try families.revokeFamily(id, now: now, in: database)
        }
        if wasLive { ledger.count(\.logouts) }
    }

    /// Ends every session of a user without counting a logout: the server's decision, not the owner's.
    ///
    /// - Returns: how many were live.
    func endAll(ofUser userID: Int64) async throws -> Int {
        let now = now()
        return try await database.writer.write { database in
            try TokenFamilyRecord
                .filter(Column("userID") == userID && Column("revokedAt") == nil)
                .updateAll(database, Column("revokedAt").set(to: now))
        }
    }
}

extension APIError {
    init(_ refusal: RefreshRefusal) {
        switch refusal {
        case .unknown: self.init(.unauthorized, "REFRESH_TOKEN_INVALID", "The refresh token is unknown.")
        case .expired: self.init(.unauthorized, "REFRESH_TOKEN_EXPIRED", "The refresh token has expired.")
        case .reused:
            self.init(
                .unauthorized, "REFRESH_TOKEN_REUSED", "The refresh token had been used before; the session is over.")
        case .superseded:
            self.init(.unauthorized, "REFRESH_TOKEN_SUPERSEDED", "The refresh token was replaced; its successor too.")
        case .revoked: self.init(.unauthorized, "SESSION_REVOKED", "The session is over.")
        }
    }
}
