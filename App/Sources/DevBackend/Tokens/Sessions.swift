import Foundation
import GRDB
import HTTPTypes

/// Starts, refreshes and ends sessions: token families in the database, with their access tokens.
struct Sessions: Sendable {
    struct TokenPair: Encodable, Sendable {
        let accessToken: String
        let refreshToken: String
        /// Seconds until the access token expires; not a member of the envelope's payload.
        let expiresIn: Int

        private enum CodingKeys: String, CodingKey {
            case accessToken, refreshToken
        }
    }

    let database: BackendDatabase
    let families: TokenFamilies
    let accessTokens: AccessTokens
    let ledger: RequestLedger
    let now: @Sendable () -> Date

    /// The grant's refresh token, with a new access token.
    func pair(for grant: TokenFamilies.Grant) throws -> TokenPair {
        let now = now()
        let claims = accessTokens.claims(for: grant, epoch: database.epoch, now: now)
        return try pair(for: grant, claims, now: now)
    }

    private func pair(
        for grant: TokenFamilies.Grant, _ claims: AccessTokens.Claims, now: Date
    ) throws -> TokenPair {
        TokenPair(
            accessToken: try accessTokens.signer.sign(claims), refreshToken: grant.refreshToken,
            expiresIn: accessTokens.expiresIn(claims, now: now))
    }

    /// Starts a session of the user who signs in at this server by name.
    func start(forUserNamed name: String) async throws -> TokenFamilies.Grant {
        try await start(for: name, of: "development", named: name).grant
    }

    /// Starts a session of the user with an account at a provider, and creates the user first if it is new.
    func start(
        for subject: String, of provider: String, named name: String
    ) async throws -> (user: Stored.User, grant: TokenFamilies.Grant) {
        let now = now()
        return try await database.writer.write { [families] database in
            var user =
                try Stored.User.with(provider, subject, in: database)
                ?? Stored.User(name: name, provider: provider, providerSubject: subject, createdAt: now)
            if user.id == nil { try user.insert(database) }
            return (user, try families.start(for: user.requireID(), now: now, in: database))
        }
    }

    /// Exchanges a refresh token for a new pair, in one transaction.
    ///
    /// A request with a key can be repeated: see `TokenFamilies.rotate`.
    ///
    /// - Throws: `APIError` for a token that is refused.
    func refresh(_ token: String, key: String?, in exchange: Exchange) async throws -> TokenPair {
        let now = now()
        let keyDigest = key.map { RefreshToken.keyDigest(of: $0, under: families.successionKey) }
        let epoch = database.epoch
        let rotation = try await database.writer.write { [families, accessTokens] database in
            try families.rotate(token, keyDigest: keyDigest, now: now, in: database) { grant in
                accessTokens.claims(for: grant, epoch: epoch, now: now)
            }
        }
        switch rotation {
        case .granted(let grant, let claims, let counter):
            ledger.count(counter)
            // That of the token that was presented.
            ledger.setGeneration(grant.generation - 1, of: exchange.sequence)
            return try pair(for: grant, claims, now: now)
        case .refused(let refusal, let generation):
            ledger.count(refusal == .reused ? \.refreshes.reuseDetected : \.refreshes.rejected)
            if let generation { ledger.setGeneration(generation, of: exchange.sequence) }
            throw APIError(.unauthorized, refusal.rawValue, refusal.message)
        }
    }

    /// Whether an access token, expired or not, belongs to the session of a refresh token.
    ///
    /// An unknown refresh token belongs to no session; the refresh refuses it.
    func isAccessToken(_ accessToken: String, ofSessionWith refreshToken: String) async throws -> Bool {
        guard let claims = accessTokens.claims(of: accessToken) else { return false }
        return try await record(of: refreshToken).map { $0.familyID == claims.sid } ?? true
    }

    /// Ends the session of a refresh token. An unknown token or a session that has ended is no error.
    func end(refreshToken token: String) async throws {
        if let record = try await record(of: token) { try await end(family: record.familyID) }
    }

    /// Ends the session of a family. A session that has ended is no error.
    func end(family id: String) async throws {
        if try await revoke(Column("id") == id) > 0 { ledger.count(\.logouts) }
    }

    /// Ends every session of a user. It is not counted as a logout, because the user did not ask for it.
    func endAll(ofUser userID: Int64) async throws { _ = try await revoke(Column("userID") == userID) }

    /// - Returns: How many sessions were live.
    private func revoke(_ families: SQLExpression) async throws -> Int {
        let now = now()
        return try await database.writer.write { database in
            try Stored.TokenFamily.filter(families && Column("revokedAt") == nil)
                .updateAll(database, Column("revokedAt").set(to: now))
        }
    }

    private func record(of refreshToken: String) async throws -> Stored.RefreshToken? {
        let digest = RefreshToken.digest(of: refreshToken)
        return try await database.writer.read { try Stored.RefreshToken.fetchOne($0, key: digest) }
    }
}
