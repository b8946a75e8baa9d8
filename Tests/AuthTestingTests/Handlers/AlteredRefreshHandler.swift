import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting

/// A token endpoint as a client sees it: a status, a body, or nothing.
final class TokenEndpoint: Sendable {
    struct Response: Sendable {
        var status = 200
        var retryAfter: Int?
        var access: String?
        var refresh: String?
        /// The body as text, for a handler that quotes it in its error.
        var body = "{}"
    }

    struct ConnectionLost: Error {}

    let server: RotatingTokenServer
    let response = Locked(RefreshBackendResponse.tokens)
    let keys = Locked<[String?]>([])
    /// What a faulty handler remembers.
    let memory = Locked<Result<TokenRefreshResult, any Error>?>(nil)

    init(tolerating tolerance: ReplayTolerance = .none) {
        server = RotatingTokenServer(lifetime: .seconds(900), tolerating: tolerance)
    }

    func post(_ request: TokenRefreshRequest) async throws -> Response {
        let (refreshToken, key) = (request.refreshToken, request.idempotencyKey)
        keys.withLock { $0.append(key.isEmpty ? nil : key) }
        let response = response.withLock { $0 }
        if let status = response.statusOfPage { return Response(status: status, body: "<html>\(refreshToken)</html>") }
        if let redirect = response.redirect { return Response(status: redirect.status) }
        switch response {
        case .tokens:
            guard let pair = try? server.refresh(request) else { return Self.refusal(quoting: refreshToken) }
            return Response(access: pair.accessToken, refresh: pair.refreshToken)
        case .rejected: return Self.refusal(quoting: refreshToken)
        case .ambiguous: return Response(status: 401, body: "")
        case .forbidden: return Response(status: 403, body: #"{"message":"Forbidden"}"#)
        case .emptyForbidden: return Response(status: 403, body: "")
        case .unavailable: return Response(status: 503)
        case .tooManyRequests: return Response(status: 429, retryAfter: 7)
        case .lostResponse:
            _ = try? server.refresh(request)
            throw ConnectionLost()
        case .garbage: return Response(body: "\(refreshToken) \(key)")
        case .emptyAccessToken: return Response(access: "")
        case .emptyAccessTokenAndNewRefreshToken:
            return Response(access: "", refresh: try server.refresh(request).refreshToken)
        case .nothing:
            try await Gate().passUnlessCancelled()
            throw CancellationError()
        default: throw ConnectionLost()
        }
    }

    private static func refusal(quoting refreshToken: String) -> Response {
        Response(status: 400, body: "{\"invalid\":\"\(refreshToken)\"}")
    }

    /// Makes of a response what the contract demands.
    func refreshProperly(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        try tokens(in: try await post(request))
    }

    func tokens(in response: Response) throws -> TokenRefreshResult {
        if response.status == 400 { throw TokenRefreshError(.rejected, status: 400, serverCode: "invalid_grant") }
        if response.status == 401, !response.body.hasPrefix("<") { throw TokenRefreshError(.ambiguous, status: 401) }
        guard response.status == 200, let access = response.access, !access.isEmpty || response.refresh != nil else {
            let pause = response.retryAfter.map { Duration.seconds($0) }
            throw TokenRefreshError(
                .unavailable, reason: "status \(response.status)", retryAfter: pause, status: response.status)
        }
        return TokenRefreshResult(accessToken: access, refreshToken: response.refresh, expiresIn: .seconds(900))
    }
}

/// A handler that keeps every rule unless a test gives it another `onRefresh`, and the backend of its endpoint.
struct AlteredRefreshHandler: TokenRefreshHandler, KeyRecordingRefreshBackend, Alterable {
    typealias Refresh = @Sendable (TokenEndpoint, TokenRefreshRequest) async throws -> TokenRefreshResult

    var endpoint = TokenEndpoint()
    var supports: @Sendable (RefreshBackendResponse) -> Bool = { _ in true }
    var replayTolerance = ReplayTolerance.none
    var onRefresh: Refresh = { try await $0.refreshProperly($1) }

    var handler: Self { self }

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        try await onRefresh(endpoint, request)
    }

    func signIn() async throws -> TokenRefreshResult { endpoint.server.signIn() }

    func respond(with response: RefreshBackendResponse) async throws -> Bool {
        guard supports(response) else { return false }
        endpoint.response.withLock { $0 = response }
        return true
    }

    func session(of accessToken: String) -> String? { RotatingTokenServer.login(of: accessToken) }

    func receivedKeys() -> [String?] { endpoint.keys.withLock { $0 } }
}
