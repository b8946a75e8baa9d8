import AuthInterface
import AuthTesting

/// A token endpoint as it looks from the client: a status, a body, or nothing.
final class TokenEndpoint: Sendable {
    struct Response: Sendable {
        var status = 200
        var retryAfter: Int?
        var access: String?
        var refresh: String?
        /// The body as text, as a handler that reports too much would quote it.
        var body = "{}"
    }

    struct ConnectionLost: Error {}

    let server = RotatingTokenServer(lifetime: .seconds(900))
    private let way = Locked(RefreshBackendAnswer.tokens)

    func behave(_ way: RefreshBackendAnswer) {
        self.way.withLock { $0 = way }
    }

    func post(_ refreshToken: String) async throws -> Response {
        switch way.withLock({ $0 }) {
        case .tokens:
            guard let pair = try? server.refresh(refreshToken) else { return Response(status: 400) }
            return Response(access: pair.accessToken, refresh: pair.refreshToken)
        case .rejected: return Response(status: 400, body: "{\"invalid\":\"\(refreshToken)\"}")
        case .unavailable: return Response(status: 503)
        case .tooManyRequests: return Response(status: 429, retryAfter: 7)
        case .unreachable: throw ConnectionLost()
        case .garbage: return Response(body: "<html>\(refreshToken)</html>")
        case .emptyAccessToken: return Response(access: "", refresh: "refresh-ada1-1")
        case .nothing:
            try await Gate().passUnlessCancelled()
            throw CancellationError()
        }
    }
}

/// A handler that keeps every rule, until a test bends it.
struct BentRefreshHandler: TokenRefreshHandler {
    let endpoint: TokenEndpoint
    var onRefresh: @Sendable (TokenEndpoint, String) async throws -> TokenRefreshResult

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let refreshToken = request.refreshToken
        try await onRefresh(endpoint, refreshToken)
    }
}

/// The backend of a ``BentRefreshHandler``.
struct BentRefreshBackend: RefreshBackend {
    let endpoint = TokenEndpoint()
    var unsupported: Set<RefreshBackendAnswer> = []
    var onRefresh: @Sendable (TokenEndpoint, String) async throws -> TokenRefreshResult = {
        try await $0.refreshProperly($1)
    }

    var handler: BentRefreshHandler { BentRefreshHandler(endpoint: endpoint, onRefresh: onRefresh) }

    func signIn() async throws -> TokenRefreshResult { endpoint.server.signIn() }

    func answer(_ answer: RefreshBackendAnswer) async throws -> Bool {
        guard !unsupported.contains(answer) else { return false }
        endpoint.behave(answer)
        return true
    }

    func session(of accessToken: String) -> String? {
        accessToken.split(separator: "-").dropFirst().first.map(String.init)
    }
}

extension TokenEndpoint {
    /// What a handler should make of the endpoint's answers.
    func refreshProperly(_ refreshToken: String) async throws -> TokenRefreshResult {
        try tokens(in: try await post(refreshToken))
    }

    func tokens(in response: Response) throws -> TokenRefreshResult {
        switch response.status {
        case 200: break
        case 400: throw TokenRefreshError(.rejected, reason: "invalid_grant")
        default: throw unavailable(response)
        }
        guard let access = response.access, !access.isEmpty else { throw unavailable(response) }
        return TokenRefreshResult(accessToken: access, refreshToken: response.refresh, expiresIn: .seconds(900))
    }

    func unavailable(_ response: Response) -> TokenRefreshError {
        TokenRefreshError(
            .unavailable,
            reason: "status \(response.status)",
            retryAfter: response.retryAfter.map { .seconds($0) }
        )
    }
}
