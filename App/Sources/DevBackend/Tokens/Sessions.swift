import Foundation
import GRDB
import HTTPTypes

/// Starts, refreshes and ends sessions: token families in the database, with their access tokens.
struct Sessions: Sendable {
    /// The result of a sign-in or a refresh.
    struct TokenPair: Encodable, Sendable {
        let accessToken: String
        let refreshToken: String
        /// The expiry of the access token, in a dialect that sends it.
        var expiresAt: Date?
        /// Seconds until the access token expires; not a member of the envelope's payload.
        let expiresIn: Int

        private enum CodingKeys: String, CodingKey {
            case accessToken, refreshToken, expiresAt
        }
    }

    let database: BackendDatabase
    let families: TokenFamilies
    let accessTokens: AccessTokens
    let ledger: RequestLedger
    let dialect: DevBackend.Dialect
    let now: @Sendable () -> Date

    /// The grant's refresh token, with a new access token.
    func pair(for grant: TokenFamilies.Grant, at resource: String? = nil) throws -> TokenPair {
        let now = now()
        let claims = accessTokens.claims(for: grant, at: resource, epoch: database.epoch, now: now)
        return try pair(for: grant, claims, now: now)
    }

    private func pair(
        for grant: TokenFamilies.Grant, _ claims: AccessTokens.Claims, now: Date
    ) throws -> TokenPair {
        TokenPair(
            accessToken: try accessTokens.sign(claims), refreshToken: grant.refreshToken,
            expiresAt: dialect.sendsExpiry ? Date(timeIntervalSince1970: Double(claims.exp)) : nil,
            expiresIn: accessTokens.expiresIn(claims, now: now))
    }

    /// Starts a session of the user who signs in at this server by name, and creates the user first if it is new.
    func start(forUserNamed name: String) async throws -> TokenFamilies.Grant {
        let now = now()
        return try await database.writer.write { [families] database in
            var user =
                try Stored.User.with("development", name, in: database)
                ?? Stored.User(name: name, provider: "development", providerSubject: name, createdAt: now)
            if user.id == nil { try user.insert(database) }
            return try families.start(for: user.requireID(), now: now, in: database)
        }
    }

    /// Exchanges a refresh token for a new pair, in one transaction.
    ///
    /// A request with a key can be repeated: see `TokenFamilies.rotate`. The result is then for the resource of the
    /// first one.
    ///
    /// - Throws: `TokenFamilies.Refusal`.
    func refresh(
        _ token: String, key: RefreshToken.Key?, at resource: String? = nil, in exchange: Exchange
    ) async throws -> TokenPair {
        let now = now()
        let keyDigest = key?.digest(under: families.succession.key)
        let epoch = database.epoch
        let rotation = try await database.writer.write { [families, accessTokens] database in
            try families.rotate(token, keyDigest: keyDigest, now: now, in: database) { grant in
                accessTokens.claims(for: grant, at: resource, epoch: epoch, now: now)
            }
        }
        switch rotation {
        case .rotated(let grant, let claims):
            note(grant, \.refreshes.committed, exchange)
            return try pair(for: grant, claims, now: now)
        case .replayed(let grant):
            note(grant, \.refreshes.replayedByGrace, exchange)
            return try pair(for: grant, at: resource)
        case .repeated(let grant, let claims):
            note(grant, \.refreshes.replayedByKey, exchange)
            return try pair(for: grant, claims, now: now)
        case .refused(let refusal, let generation):
            ledger.count(refusal == .reused ? \.refreshes.reuseDetected : \.refreshes.rejected)
            if let generation { ledger.setGeneration(generation, of: exchange.sequence) }
            throw refusal
        }
    }

    /// Counts a refresh and records the generation of the token that was presented.
    private func note(
        _ grant: TokenFamilies.Grant, _ counter: any WritableKeyPath<ServerStatistics, Int> & Sendable,
        _ exchange: Exchange
    ) {
        ledger.count(counter)
        ledger.setGeneration(grant.generation - 1, of: exchange.sequence)
    }

    /// Whether an access token, expired or not, belongs to the session of a refresh token.
    ///
    /// An unknown refresh token belongs to no session; the refresh refuses it.
    func isAccessToken(_ accessToken: String, ofSessionWith refreshToken: String) async throws -> Bool {
        guard let claims = accessTokens.claims(of: accessToken) else { return false }
        let digest = RefreshToken.digest(of: refreshToken)
        let record = try await database.writer.read { try Stored.RefreshToken.fetchOne($0, key: digest) }
        return record.map { $0.familyID == claims.sid } ?? true
    }

    /// Ends the session of a refresh token. An unknown token or a session that has ended is no error.
    func end(refreshToken token: String) async throws {
        try await end { families, now, database in
            try families.revokeFamily(ofToken: token, now: now, in: database)
        }
    }

    /// Ends the session of a family. A session that has ended is no error.
    func end(family id: String) async throws {
        try await end { families, now, database in try families.revokeFamily(id, now: now, in: database) }
    }

    private func end(_ revoke: @escaping @Sendable (TokenFamilies, Date, Database) throws -> Bool) async throws {
        let now = now()
        let wasLive = try await database.writer.write { [families] in try revoke(families, now, $0) }
        if wasLive { ledger.count(\.logouts) }
    }

    /// Ends every session of a user. It is not counted as a logout, because the user did not ask for it.
    ///
    /// - Returns: How many sessions were live.
    func endAll(ofUser userID: Int64) async throws -> Int {
        let now = now()
        return try await database.writer.write { database in
            try Stored.TokenFamily
                .filter(Column("userID") == userID && Column("revokedAt") == nil)
                .updateAll(database, Column("revokedAt").set(to: now))
        }
    }
}

extension APIError {
    init(_ refusal: TokenFamilies.Refusal) {
        switch refusal {
        case .unknown: self.init(.unauthorized, "REFRESH_TOKEN_INVALID", "The refresh token is unknown.")
        case .expired: self.init(.unauthorized, "REFRESH_TOKEN_EXPIRED", "The refresh token has expired.")
        case .reused:
            self.init(
                .unauthorized, "REFRESH_TOKEN_REUSED", "The refresh token was used before; the session has ended.")
        case .superseded:
            self.init(
                .unauthorized, "REFRESH_TOKEN_SUPERSEDED", "The refresh token and its successor were used before.")
        case .revoked: self.init(.unauthorized, "SESSION_REVOKED", "The session has ended.")
        }
    }
}
