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

    @Test func `the article shows the handler word for word`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        }
        let sample = try text("Tests/AuthTestingTests/Handlers/WrittenHandler.swift")
        let start = try #require(sample.range(of: "// sample: a refresh handler\n"))
        let end = try #require(sample.range(of: "// end\n"))
        let article = try text("Modules/AuthInterface/AuthInterface.docc/WritingARefreshHandler.md")
        #expect(article.contains("```swift\n" + sample[start.upperBound..<end.lowerBound] + "```\n"))
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
