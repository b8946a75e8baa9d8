import Foundation
import GRDB
import HTTPTypes
import Hummingbird

/// `/auth`: sign-in, refresh and logout.
struct AuthRoutes: Sendable {
    let sessions: Sessions
    let authenticator: Authenticator
    let provider: DevelopmentProvider
    let uploads: UploadFolder
    let limits: DevBackend.Limits

    var routes: [Route] {
        [
            Route(.post, "/auth/guest/register") { try await registerGuest($0, $1) },
            Route(.post, "/auth/social/login") { try await signInSocially($0, $1) },
            Route(.post, "/auth/guest/upgrade") { try await upgradeGuest($0, $1) },
            Route(.post, "/auth/refresh") { try await refresh($0, $1) },
            Route(.post, "/auth/logout") { try await logOut($0, $1) },
        ]
    }

    private struct RefreshRequest: Decodable {
        let refreshToken: String
    }

    /// The tokens of a refresh call, in the body or in header fields.
    private struct RefreshTokens: Decodable {
        var refreshToken: String?
        var accessToken: String?
    }

    private struct SocialLoginRequest: Decodable {
        let provider: String
        let token: String
    }

    private func registerGuest(_ request: Request, _ context: BackendContext) async throws -> Response {
        let registration = try await GuestRegistration(
            request, in: context.exchange, uploads: uploads, limits: limits)
        let now = sessions.now()
        let file = Stored.File(
            key: "\(UUID().uuidString.lowercased()).jpg", bytes: registration.image,
            width: registration.header.width, height: registration.header.height, createdAt: now)
        let (user, grant) = try await sessions.database.writer.write { [families = sessions.families] database in
            try file.insert(database)
            var user = Stored.User(name: registration.name, imageKey: file.key, createdAt: now)
            try user.insert(database)
            return (user, try families.start(for: user.requireID(), now: now, in: database))
        }
        sessions.ledger.count(\.registrations)
        return try signedIn(user, grant, status: .created, context)
    }

    private func signInSocially(_ request: Request, _ context: BackendContext) async throws -> Response {
        let (login, identity) = try await providerIdentity(request, context)
        let now = sessions.now()
        let name = String(String.UnicodeScalarView(identity.name.unicodeScalars.prefix(limits.nameCharacters)))
        let (user, grant) = try await sessions.database.writer.write { [families = sessions.families] database in
            var user =
                try Stored.User.with(login.provider, identity.sub, in: database)
                ?? Stored.User(
                    name: name, provider: login.provider, providerSubject: identity.sub, createdAt: now)
            if user.id == nil { try user.insert(database) }
            return (user, try families.start(for: user.requireID(), now: now, in: database))
        }
        sessions.ledger.count(\.socialLogins)
        return try signedIn(user, grant, status: .ok, context)
    }

    /// Reads the provider's token of a request, and the identity in it.
    private func providerIdentity(
        _ request: Request, _ context: BackendContext
    ) async throws -> (SocialLoginRequest, DevelopmentProvider.Identity) {
        let login = try await request.json(SocialLoginRequest.self, upTo: limits.bodyBytes, in: context.exchange)
        guard DevelopmentProvider.names.contains(login.provider) else {
            let names = DevelopmentProvider.names.joined(separator: ", ")
            throw APIError.validation("provider", "Must be one of: \(names).")
        }
        guard let identity = provider.identity(in: login.token, provider: login.provider, now: sessions.now())
        else {
            // A 401 that does not mean the access token: it has no challenge (RFC 6750 §3).
            throw APIError(.unauthorized, "PROVIDER_TOKEN_INVALID", "The provider's token is not valid.")
        }
        return (login, identity)
    }

    /// Gives the guest of the session an account at a provider. The user, its articles and its session stay. The same
    /// call again has the same result.
    private func upgradeGuest(_ request: Request, _ context: BackendContext) async throws -> Response {
        let principal = try await authenticator.principal(of: request, in: context.exchange)
        let (login, identity) = try await providerIdentity(request, context)
        let user = try await sessions.database.writer.write { database in
            guard var user = try Stored.User.fetchOne(database, key: principal.userID) else { throw APIError.notFound }
            if let owner = try Stored.User.with(login.provider, identity.sub, in: database), owner.id != user.id {
                throw APIError(.conflict, "ACCOUNT_EXISTS", "The provider's account belongs to another user.")
            }
            guard user.provider == nil || user.provider == login.provider && user.providerSubject == identity.sub
            else { throw APIError(.conflict, "NOT_A_GUEST", "The user has an account already.") }
            (user.provider, user.providerSubject) = (login.provider, identity.sub)
            try user.update(database)
            return user
        }
        return try context.exchange.success(Payload.User(user, origin: context.exchange.origin))
    }

    /// Reads the tokens of a refresh call.
    ///
    /// - Throws: `VALIDATION_FAILED` without a refresh token, or without the session's access token where the dialect
    ///   needs it.
    private func refreshTokens(_ request: Request, _ context: BackendContext) async throws -> RefreshRequest {
        let dialect = context.exchange.dialect
        let body = try await request.json(RefreshTokens.self, upTo: limits.bodyBytes, in: context.exchange)
        let field = dialect.refreshTokenField.flatMap { HTTPField.Name($0) }.flatMap { request.headers[$0] }
        guard let refreshToken = body.refreshToken ?? field else {
            throw APIError.validation("refreshToken", "Is required.")
        }
        if dialect.refreshNeedsAccessToken {
            guard let accessToken = body.accessToken ?? authenticator.accessToken(in: request.headers) else {
                throw APIError.validation("accessToken", "Is required.")
            }
            guard try await sessions.isAccessToken(accessToken, ofSessionWith: refreshToken) else {
                throw APIError.validation("accessToken", "Is not one of this session.")
            }
        }
        return RefreshRequest(refreshToken: refreshToken)
    }

    private func refresh(_ request: Request, _ context: BackendContext) async throws -> Response {
        let key: String?
        let body: RefreshRequest
        do {
            key = try request.idempotencyKey(upTo: limits.idempotencyKeyCharacters)
            body = try await refreshTokens(request, context)
        } catch {
            sessions.ledger.count(\.refreshes.rejected)
            throw error
        }
        do {
            let pair = try await sessions.refresh(
                body.refreshToken, key: key.map { RefreshToken.Key(client: nil, value: $0) }, in: context.exchange)
            return try context.exchange.success(pair, headers: [.cacheControl: "no-store"])
        } catch let refusal as TokenFamilies.Refusal {
            throw APIError(refusal)
        }
    }

    /// Possession of the refresh token is the authorization: a client must be able to log out with an expired access
    /// token. An unknown token gets the same response, so that a response does not show which tokens exist.
    private func logOut(_ request: Request, _ context: BackendContext) async throws -> Response {
        let body = try await request.json(RefreshRequest.self, upTo: limits.bodyBytes, in: context.exchange)
        try await sessions.end(refreshToken: body.refreshToken)
        return try context.exchange.success(Payload.Empty?.none)
    }

    private func signedIn(
        _ user: Stored.User, _ grant: TokenFamilies.Grant, status: HTTPResponse.Status, _ context: BackendContext
    ) throws -> Response {
        let pair = try sessions.pair(for: grant)
        let payload = Payload.SignedIn(
            user: try Payload.User(user, origin: context.exchange.origin), accessToken: pair.accessToken,
            refreshToken: context.exchange.dialect.issuesRefreshTokens ? pair.refreshToken : nil,
            expiresAt: pair.expiresAt)
        return try context.exchange.success(payload, status: status, headers: [.cacheControl: "no-store"])
    }
}
