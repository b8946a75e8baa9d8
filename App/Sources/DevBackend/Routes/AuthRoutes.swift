import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import MultipartForms

/// `/auth`: sign-in, refresh and logout.
struct AuthRoutes: Sendable {
    let sessions: Sessions
    let authenticator: Authenticator
    let dialect: DevBackend.Dialect
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

    private struct LogoutRequest: Decodable {
        let refreshToken: String
    }

    private struct RefreshRequest: Decodable {
        /// Absent where a header field has it.
        let refreshToken: String?
    }

    private struct SocialLoginRequest: Decodable {
        let provider: String
        let token: String
    }

    private func registerGuest(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let registration = try await GuestRegistration(request, limits: limits)
        let now = sessions.now()
        let file = Stored.File(
            key: "\(UUID().uuidString.lowercased()).jpg", bytes: registration.image, createdAt: now)
        let (user, grant) = try await sessions.database.writer.write { [families = sessions.families] database in
            try file.insert(database)
            var user = Stored.User(name: registration.name, imageKey: file.key, createdAt: now)
            try user.insert(database)
            return (user, try families.start(for: user.requireID(), now: now, in: database))
        }
        sessions.ledger.count(\.registrations)
        return try signedIn(user, grant, status: .created, exchange)
    }

    private func signInSocially(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let (login, identity) = try await providerIdentity(request)
        let name = String(String.UnicodeScalarView(identity.name.unicodeScalars.prefix(limits.nameCharacters)))
        let (user, grant) = try await sessions.start(for: identity.sub, of: login.provider, named: name)
        sessions.ledger.count(\.socialLogins)
        return try signedIn(user, grant, status: .ok, exchange)
    }

    /// Reads the provider's token of a request, and the identity in it.
    private func providerIdentity(
        _ request: Request
    ) async throws -> (SocialLoginRequest, DevelopmentProvider.Identity) {
        let login = try await request.json(SocialLoginRequest.self, upTo: limits.bodyBytes)
        guard DevelopmentProvider.names.contains(login.provider) else {
            let names = DevelopmentProvider.names.joined(separator: ", ")
            throw APIError.validation("provider", "Must be one of: \(names).")
        }
        let provider = DevelopmentProvider()
        guard let identity = provider.identity(in: login.token, provider: login.provider, now: sessions.now()) else {
            // A 401 that does not mean the access token: it has no challenge (RFC 6750 §3).
            throw APIError(.unauthorized, "PROVIDER_TOKEN_INVALID", "The provider's token is not valid.")
        }
        return (login, identity)
    }

    /// Gives the guest of the session an account at a provider. The user, its articles and its session stay. The same
    /// call again has the same result.
    private func upgradeGuest(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let userID = try await authenticator.userID(of: request, in: exchange)
        let (login, identity) = try await providerIdentity(request)
        let user = try await sessions.database.writer.write { database in
            guard var user = try Stored.User.fetchOne(database, key: userID) else { throw APIError.notFound }
            if let owner = try Stored.User.with(login.provider, identity.sub, in: database), owner.id != user.id {
                throw APIError(.conflict, "ACCOUNT_EXISTS", "The provider's account belongs to another user.")
            }
            guard user.provider == nil || user.provider == login.provider && user.providerSubject == identity.sub
            else { throw APIError(.conflict, "NOT_A_GUEST", "The user has an account already.") }
            (user.provider, user.providerSubject) = (login.provider, identity.sub)
            try user.update(database)
            return user
        }
        return try exchange.success(Payload.User(user, origin: exchange.origin))
    }

    /// Reads the refresh token of a refresh call, with the session's access token where the dialect needs it.
    private func refreshToken(of request: Request) async throws -> String {
        let body = try await request.json(RefreshRequest.self, upTo: limits.bodyBytes)
        guard let refreshToken = body.refreshToken ?? request.headers[named: dialect.refreshTokenField] else {
            throw APIError.validation("refreshToken", "Is required.")
        }
        if dialect.refreshNeedsAccessToken {
            guard let accessToken = authenticator.accessToken(in: request.headers) else {
                throw APIError.validation("accessToken", "Is required.")
            }
            guard try await sessions.isAccessToken(accessToken, ofSessionWith: refreshToken) else {
                throw APIError.validation("accessToken", "Is not one of this session.")
            }
        }
        return refreshToken
    }

    private func refresh(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let key: String?
        let refreshToken: String
        do {
            key = try request.idempotencyKey(upTo: limits.idempotencyKeyCharacters)
            refreshToken = try await self.refreshToken(of: request)
        } catch {
            sessions.ledger.count(\.refreshes.rejected)
            throw error
        }
        let pair = try await sessions.refresh(refreshToken, key: key, in: exchange)
        return try exchange.success(pair, headers: [.cacheControl: "no-store"])
    }

    /// Possession of the refresh token is the authorization: a client must be able to log out with an expired access
    /// token. An unknown token gets the same response, so that a response does not show which tokens exist.
    private func logOut(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let body = try await request.json(LogoutRequest.self, upTo: limits.bodyBytes)
        try await sessions.end(refreshToken: body.refreshToken)
        return try exchange.success(Payload.Empty?.none)
    }

    private func signedIn(
        _ user: Stored.User, _ grant: TokenFamilies.Grant, status: HTTPResponse.Status, _ exchange: Exchange
    ) throws -> Response {
        let pair = try sessions.pair(for: grant)
        let payload = Payload.SignedIn(
            user: try Payload.User(user, origin: exchange.origin), accessToken: pair.accessToken,
            refreshToken: pair.refreshToken)
        return try exchange.success(payload, status: status, headers: [.cacheControl: "no-store"])
    }
}

/// The validated upload that registers a guest.
struct GuestRegistration: Sendable {
    let name: String
    let image: Data

    /// - Throws: `UNSUPPORTED_MEDIA_TYPE`, `MALFORMED_MULTIPART`, `VALIDATION_FAILED`, `IMAGE_TOO_LARGE`,
    ///   `UNSUPPORTED_IMAGE`, and what reading a body throws.
    init(_ request: Request, limits: DevBackend.Limits) async throws {
        let parts = try await Self.parts(of: request, limits)
        let names = parts.filter { $0.header.name == "name" }
        let images = parts.filter { $0.header.name == "image" }
        let name = (names.first?.content).flatMap { String(validating: $0, as: UTF8.self) }?
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let image = images.first?.content ?? Data()
        guard image.count <= limits.imageBytes else { throw APIError.imageTooLarge(limits.imageBytes) }
        var errors: [APIError.FieldError] = []
        if names.count != 1 {
            errors.append(.init(field: "name", message: "Must be given once."))
        } else if !(1...limits.nameCharacters).contains(name?.unicodeScalars.count ?? 0) {
            errors.append(.init(field: "name", message: "Must have 1 to \(limits.nameCharacters) characters."))
        } else if name?.contains("\0") == true {
            errors.append(.init(field: "name", message: "Must not have a null character."))
        }
        if images.count != 1 || image.isEmpty {
            errors.append(.init(field: "image", message: "Must be given once."))
        }
        guard errors.isEmpty, let name else { throw APIError.validation(errors) }
        // The marker of the start, that of a segment, and more than both.
        guard image.starts(with: [0xFF, 0xD8, 0xFF]), image.count > 4 else {
            throw APIError(.unsupportedMediaType, "UNSUPPORTED_IMAGE", "The image is not a JPEG.")
        }
        self.name = name
        self.image = image
    }

    private static func parts(of request: Request, _ limits: DevBackend.Limits) async throws -> [MultipartPart] {
        guard
            let type = request.headers[.contentType].flatMap({ ParameterizedValue($0) }),
            type.value.lowercased() == "multipart/form-data"
        else {
            throw APIError(
                .unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data.")
        }
        let body = try await request.bodyData(
            upTo: limits.imageBytes + limits.bodyBytes, orThrow: .imageTooLarge(limits.imageBytes))
        do {
            return try MultipartParser.parts(
                of: body, boundary: type.parameters["boundary"] ?? "", maximumParts: 16, maximumHeaderBytes: 8 * 1024)
        } catch {
            throw APIError(.badRequest, "MALFORMED_MULTIPART", "The multipart body is malformed: \(error).")
        }
    }
}
