import AuthInterface
import AuthTesting
import Foundation
import Testing

/// The handler of *Writing a refresh handler*, checked over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct WrittenHandlerTests {
    @Test func `the handler of the article keeps the contract`() async throws {
        try await TokenRefreshHandlerContract.check(.partner) { url in PartnerRefresh(endpoint: url) }
    }
}

extension RefreshDialect {
    static let partner = RefreshDialect(
        refreshToken: { body in (try? JSONDecoder().decode([String: String].self, from: body))?["refresh"] },
        tokens: { ["access": $0.accessToken, "refresh": $0.refreshToken] },
        rejection: { _ in ["code": "refresh_token_dead"] },
        rejectionStatus: 400
    )
}
