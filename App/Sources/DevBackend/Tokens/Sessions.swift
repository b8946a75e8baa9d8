import Foundation
import GRDB
import HTTPTypes

/// What a sign-in or a refresh hands out.
struct TokenPair: Encodable, Sendable {
    let accessToken: String
    let refreshToken: String
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
        let accessToken = try await accessTokens.issue(for: grant, epoch: database.epoch, now: now())
        return TokenPair(accessToken: accessToken, refreshToken: grant.refreshToken)
    }

    /// Spends a refresh token for a new pair, in one transaction.
    ///
    /// - Throws: `RefreshRefusal` when the token earns nothing.
    func refresh(_ token: String, in exchange: Exchange) async throws -> TokenPair {
        let now = now()
        let rotation = try await database.writer.write { [families] database in
            try families.rotate(token, now: now, in: database)
        }
        switch rotation {
        case .rotated(let grant):
            ledger.count(\.refreshes.committed)
            ledger.noteGeneration(grant.generation - 1, of: exchange.sequence)
            return try await pair(for: grant)
        case .replayed(let grant):
            ledger.count(\.refreshes.replayedByGrace)
            ledger.noteGeneration(grant.generation - 1, of: exchange.sequence)
            return try await pair(for: grant)
        case .refused(let refusal, let generation):
            ledger.count(refusal == .reused ? \.refreshes.reuseDetected : \.refreshes.rejected)
            if let generation { ledger.noteGeneration(generation, of: exchange.sequence) }
            throw refusal
        }
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
        case .revoked: self.init(.unauthorized, "SESSION_REVOKED", "The session is over.")
        }
    }
}
