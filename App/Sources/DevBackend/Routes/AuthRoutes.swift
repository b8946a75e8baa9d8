import Foundation
import GRDB
import HTTPTypes
import Hummingbird

/// `/auth`: sign-in, refresh and logout.
struct AuthRoutes: Sendable {
    let sessions: Sessions
    let provider: DevelopmentProvider
    let limits: DevBackend.Limits

    var routes: [Route] {
        [
            Route(.post, "/auth/guest/register") { try await registerGuest($0, $1) },
            Route(.post, "/auth/social/login") { try await signInSocially($0, $1) },
            Route(.post, "/auth/refresh") { try await refresh($0, $1) },
            Route(.post, "/auth/logout") { try await logOut($0, $1) },
        ]
    }

    private struct RefreshRequest: Decodable {
        let refreshToken: String
    }

    private struct SocialLoginRequest: Decodable {
        let provider: String
        let token: String
    }

    private func registerGuest(_ request: Request, _ context: BackendContext) async throws -> Response {
        let registration = try await GuestRegistration(request, in: context.exchange, limits: limits)
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
        return try await signedIn(user, grant, status: .created, context)
    }

    private func signInSocially(_ request: Request, _ context: BackendContext) async throws -> Response {
        let login = try await request.json(SocialLoginRequest.self, upTo: limits.bodyBytes, in: context.exchange)
        guard DevelopmentProvider.names.contains(login.provider) else {
            let names = DevelopmentProvider.names.joined(separator: ", ")
            throw APIError.validation("provider", "Must be one of: \(names).")
        }
        let now = sessions.now()
        guard let identity = await provider.identity(in: login.token, provider: login.provider, now: now) else {
            throw APIError(.unauthorized, "PROVIDER_TOKEN_INVALID", "The provider's token is not valid.")
        }
        let name = String(identity.name.prefix(limits.nameCharacters))
        let (user, grant) = try await sessions.database.writer.write { [families = sessions.families] database in
            let known = Column("provider") == login.provider && Column("providerSubject") == identity.sub
            var user =
                try Stored.User.filter(known).fetchOne(database)
                ?? Stored.User(
                    name: name, provider: login.provider, providerSubject: identity.sub, createdAt: now)
            if user.id == nil { try user.insert(database) }
            return (user, try families.start(for: user.requireID(), now: now, in: database))
        }
        sessions.ledger.count(\.socialLogins)
        return try await signedIn(user, grant, status: .ok, context)
    }

    private func refresh(_ request: Request, _ context: BackendContext) async throws -> Response {
        let key: String?
        let body: RefreshRequest
        do {
            key = try request.idempotencyKey(upTo: limits.idempotencyKeyCharacters)
            body = try await request.json(RefreshRequest.self, upTo: limits.bodyBytes, in: context.exchange)
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
    ) async throws -> Response {
        let pair = try await sessions.pair(for: grant)
        let payload = Payload.SignedIn(
            user: try Payload.User(user, origin: context.exchange.origin), accessToken: pair.accessToken,
            refreshToken: pair.refreshToken)
        return try context.exchange.success(payload, status: status, headers: [.cacheControl: "no-store"])
    }
}
