public import AuthInterface
public import NetworkCore

/// Refreshes by `POST auth/refresh {refreshToken}`, and revokes by `POST auth/logout {refreshToken}`, or as another
/// ``RESTTokenDialect`` says.
///
/// It takes an `UnauthenticatedNetworkService`: an authenticated client would wait for this refresh (G20).
///
/// ```swift
/// let refresh = RESTTokenRefreshHandler(network: client, replayTolerance: .sameKey)
/// ```
public struct RESTTokenRefreshHandler: TokenRefreshHandler, TokenRevocationHandler {
    /// Whether the server accepts the same refresh token again after a lost response (G12).
    public let replayTolerance: ReplayTolerance

    /// Whether `auth/logout` ends the session of the refresh token alone, and no other session of the user (G9).
    public let affectsRevokedSessionOnly: Bool

    private let network: any UnauthenticatedNetworkService
    private let dialect: RESTTokenDialect
    private let rejection: RESTRejection
    private let idempotencyKeyField: String?
    private let accessToken: RefreshAccessTokenPlacement
    private let refreshTokenField: String?
    private let format: any ResponseFormat

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - network: Sends the calls, without tokens.
    ///   - dialect: How the server writes its calls and responses.
    ///   - rejection: The responses with which the server refuses the refresh token itself.
    ///   - replayTolerance: Whether the server accepts the same refresh token again. `.sameKey` needs
    ///     `idempotencyKeyField`.
    ///   - idempotencyKeyField: The header field that carries the idempotency key; `nil` sends none.
    ///   - accessToken: The place of the replaced access token, for a server that needs both tokens.
    ///   - refreshTokenField: The header field that carries the refresh token; `nil` sends it in the body.
    ///   - format: How responses contain the tokens. The default reads them in an envelope, and plain.
    ///   - logoutAffectsSessionOnly: Whether `auth/logout` ends that token's session only. Pass `true` only if the
    ///     user's other sessions stay, those on this device too: old tokens are then revoked while another session is
    ///     signed in.
    public init(
        network: any UnauthenticatedNetworkService,
        dialect: RESTTokenDialect = .standard,
        rejection: RESTRejection = RESTRejection(),
        replayTolerance: ReplayTolerance = .none,
        idempotencyKeyField: String? = "Idempotency-Key",
        accessToken: RefreshAccessTokenPlacement = .omitted,
        refreshTokenField: String? = nil,
        format: any ResponseFormat = EnvelopeFormat(acceptsPlainValues: true),
        logoutAffectsSessionOnly: Bool = false
    ) {
        self.network = network
        self.dialect = dialect
        self.rejection = rejection
        self.replayTolerance = replayTolerance
        self.idempotencyKeyField = idempotencyKeyField
        self.accessToken = accessToken
        self.refreshTokenField = refreshTokenField
        self.format = format
        affectsRevokedSessionOnly = logoutAffectsSessionOnly
    }

    /// Exchanges a refresh token for new tokens. The call is made once. A new refresh token is returned even if the
    /// access token beside it is empty.
    ///
    /// - Throws: `TokenRefreshError` with the verdict of ``RESTRejection``; its status is `nil` when no whole response
    ///   arrived. `CancellationError`.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let call = call(for: request).format(format).map { tokens, head in (tokens.result, head.status) }
        do {
            let (result, status) = try await network.send(call)
            return try result.usable(after: request, status: status)
        } catch let error as NetworkError {
            let secrets = [request.refreshToken, request.accessToken, request.idempotencyKey]
            throw rejection.verdict(on: error.withoutQuoting(secrets), withoutQuoting: secrets)
        }
    }

    private func call(for request: TokenRefreshRequest) -> Endpoint<IssuedTokens> {
        // A token that no header field can carry is sent in the body.
        let field = request.refreshToken.fitsHeaderField ? refreshTokenField : nil
        var call = Endpoint.refresh(
            field == nil ? request.refreshToken : nil, accessToken: accessToken.isInBody ? request.accessToken : nil,
            dialect: dialect)
        if let field { call = call.header(field, request.refreshToken) }
        return accessToken.place(request.accessToken, in: call)
            .idempotencyKey(request.idempotencyKey, in: idempotencyKeyField)
            .allowingLateResponse(to: request)
    }

    /// Ends the session at the server. Without a refresh token, no call is made.
    ///
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func revoke(_ tokens: TokenBundle) async throws {
        guard let refreshToken = tokens.refreshToken else { return }
        do {
            try await network.send(.logout(refreshToken: refreshToken, dialect: dialect).format(format))
        } catch let error as NetworkError {
            throw error.withoutQuoting([refreshToken, tokens.accessToken])
        }
    }
}

/// The place of the replaced access token in a refresh call.
public struct RefreshAccessTokenPlacement: Sendable, Hashable {
    private enum Kind: Hashable {
        case omitted
        case body
        case field(name: String, prefix: String)
    }

    private let kind: Kind

    /// Not in the call.
    public static let omitted = RefreshAccessTokenPlacement(kind: .omitted)

    /// In the body, as `accessToken` beside `refreshToken`.
    public static let body = RefreshAccessTokenPlacement(kind: .body)

    /// In a header field, `Authorization: Bearer …`.
    public static let bearer = RefreshAccessTokenPlacement(kind: .field(name: "Authorization", prefix: "Bearer "))

    /// In another header field.
    public static func field(_ name: String) -> RefreshAccessTokenPlacement {
        RefreshAccessTokenPlacement(kind: .field(name: name, prefix: ""))
    }

    var isInBody: Bool { kind == .body }

    /// Adds the header field. A token that no header field can carry is left out, so that the refresh does not fail.
    func place<Response>(_ token: String, in call: Endpoint<Response>) -> Endpoint<Response> {
        guard case .field(let name, let prefix) = kind, token.fitsHeaderField else { return call }
        return call.header(name, prefix + token)
    }
}
