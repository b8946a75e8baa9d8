import Foundation
import GRDB
import HTTPTypes
import Hummingbird

/// Identifies the user of a request, from its access token and the token's family.
struct Authenticator: Sendable {
    let database: BackendDatabase
    let accessTokens: AccessTokens
    let faults: FaultInjector
    let ledger: RequestLedger
    let dialect: DevBackend.Dialect
    let recentSignIns: [(path: PathPattern, maximumAge: Duration)]
    let now: @Sendable () -> Date

    /// The identifier of the user of a request.
    ///
    /// - Throws: `APIError` with a challenge (RFC 6750 §3): `UNAUTHENTICATED`, `TOKEN_INVALID`, `TOKEN_EXPIRED`,
    ///   `SESSION_REVOKED` or `STEP_UP_REQUIRED`.
    func userID(of request: Request, in exchange: Exchange) async throws -> Int64 {
        guard let token = accessToken(in: request.headers) else { throw APIError.tokenAbsent }
        guard let claims = accessTokens.claims(of: token), let userID = Int64(claims.sub) else {
            throw APIError.tokenInvalid
        }
        ledger.setGeneration(claims.gen, of: exchange.sequence)
        guard now().timeIntervalSince1970 < Double(claims.exp), claims.epoch >= database.epoch else {
            throw expired
        }
        let family = try await database.writer.read { database in
            try Stored.TokenFamily.fetchOne(database, key: claims.sid)
        }
        guard let family, family.userID == userID else { throw APIError.tokenInvalid }
        guard family.revokedAt == nil else {
            throw APIError.token("SESSION_REVOKED", "The session has ended.")
        }
        guard claims.gen >= family.generation || !faults.plan.strictRotation else { throw expired }
        try checkSignIn(of: family, for: RouteTable.relativePath(exchange.path))
        return userID
    }

    private func checkSignIn(of family: Stored.TokenFamily, for path: String) throws {
        let age = now().timeIntervalSince(family.createdAt)
        let limits = recentSignIns.filter { $0.path.matches(path) }.map(\.maximumAge)
        if let limit = limits.min(), age > limit.seconds { throw APIError.stepUpRequired(maximumAge: limit) }
    }

    private var expired: APIError {
        .token(
            "TOKEN_EXPIRED", "The access token has expired.",
            status: HTTPResponse.Status(code: dialect.expiredTokenStatus.rawValue))
    }

    /// The bearer token (RFC 6750 §2.1), or that of the dialect's field.
    func accessToken(in headers: HTTPFields) -> String? {
        if let authorization = headers[.authorization] {
            let words = authorization.split(separator: " ", maxSplits: 1)
            guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
            return words[1].trimmingCharacters(in: .whitespaces)
        }
        let token = headers[named: dialect.accessTokenField]
        return token?.isEmpty == false ? token : nil
    }
}

extension APIError {
    /// The challenge of a request without a token names the scheme only (RFC 6750 §3.1).
    fileprivate static let tokenAbsent = APIError(
        .unauthorized, "UNAUTHENTICATED", "The request needs an access token."
    ).with(.wwwAuthenticate, #"Bearer realm="latchkey""#)

    static let tokenInvalid = token("TOKEN_INVALID", "The access token is not valid.")

    fileprivate static func token(
        _ code: String, _ message: String, status: HTTPResponse.Status = .unauthorized
    ) -> APIError {
        let error = APIError(status, code, message)
        // RFC 9110 §11.6.1 defines the challenge for a 401 only.
        guard status == .unauthorized else { return error }
        return error.with(
            .wwwAuthenticate, #"Bearer realm="latchkey", error="invalid_token", error_description="\#(message)""#)
    }

    /// The sign-in is too long ago for the request (RFC 9470 §3).
    fileprivate static func stepUpRequired(maximumAge: Duration) -> APIError {
        let message = "The request needs a more recent sign-in."
        let challenge =
            #"Bearer realm="latchkey", error="insufficient_user_authentication", "#
            + #"error_description="\#(message)", max_age="\#(maximumAge.secondsRoundedUp)""#
        return APIError(.unauthorized, "STEP_UP_REQUIRED", message).with(.wwwAuthenticate, challenge)
    }
}
