import AuthInterface
import NIOConcurrencyHelpers
import Storage
import TokenRefresh

/// An engine that is signed in.
struct Session {
    let engine: TokenRefreshCoordinator

    init(handler: any TokenRefreshHandler = CountingHandler(), store: (any TokenStore)? = nil) async throws {
        engine = TokenRefreshCoordinator(store: store ?? MemoryTokenStore(), handler: handler)
        try await engine.signIn(.numbered(0))
    }
}

extension TokenRefreshResult {
    static func numbered(_ number: Int) -> TokenRefreshResult {
        TokenRefreshResult(
            accessToken: "access-\(number)", refreshToken: "refresh-\(number)", expiresIn: .seconds(3_600))
    }
}

/// Responds at once with the next tokens.
final class CountingHandler: TokenRefreshHandler {
    private let calls = NIOLockedValueBox(0)

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        .numbered(
            calls.withLockedValue {
                $0 += 1; return $0
            })
    }
}
