import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import Testing

/// The handler of *Writing a refresh handler*, checked against the contract over real sockets.
@Suite("The sample handler", .timeLimit(.minutes(10)))
struct WrittenHandlerTests {
    @Test func `the sample handler honours the contract`() async throws {
        try await TokenRefreshHandlerContract.check(patience: .seconds(60)) { try PartnerBackend() }
    }

    @Test func `the article contains the sample word for word`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        }
        let sample = try text("Tests/NetworkCoreTests/Authentication/WrittenHandler.swift")
        let start = try #require(sample.range(of: "// sample: a refresh handler\n"))
        let end = try #require(sample.range(of: "// end\n"))
        let article = try text("Modules/AuthInterface/AuthInterface.docc/WritingARefreshHandler.md")
        #expect(article.contains("```swift\n" + sample[start.upperBound..<end.lowerBound] + "```\n"))
    }
}

/// The partner's server on a loopback port.
private final class PartnerBackend: KeyRecordingRefreshBackend {
    private let tokens: RotatingTokenServer
    private let mode: Locked<RefreshBackendResponse>
    private let server: LoopbackServer

    init() throws {
        let tokens = RotatingTokenServer(honoursKeys: true)
        let mode = Locked(RefreshBackendResponse.tokens)
        server = try LoopbackServer { request in
            Self.action(mode.withLock { $0 }, for: request, tokens)
        }
        (self.tokens, self.mode) = (tokens, mode)
    }

    deinit { server.stop() }

    var handler: PartnerRefresh { PartnerRefresh(endpoint: server.url) }

    func signIn() -> TokenRefreshResult { tokens.signIn() }

    func answer(_ answer: RefreshBackendResponse) -> Bool {
        mode.withLock { $0 = answer }
        return true
    }

    func session(of accessToken: String) -> String? {
        accessToken.split(separator: "-").dropFirst().first.map(String.init)
    }

    func receivedKeys() -> [String?] { server.requests.map { $0["Idempotency-Key"] } }

    private static func action(
        _ mode: RefreshBackendResponse,
        for request: LoopbackServer.Request,
        _ tokens: RotatingTokenServer
    ) -> LoopbackServer.Action {
        let body = String(decoding: request.body, as: UTF8.self)
        func rotated() -> TokenRefreshResult? {
            let sent = try? JSONDecoder().decode([String: String].self, from: request.body)
            return try? tokens.refresh(sent?["refresh"] ?? "", key: request["Idempotency-Key"])
        }
        let refusal = LoopbackServer.Action.json(#"{"code":"refresh_token_dead"}"#, status: 400)
        let page = Data("<html>\(body)</html>".utf8)
        switch mode {
        case .tokens:
            guard let pair = rotated() else { return refusal }
            return .json(#"{"access":"\#(pair.accessToken)","refresh":"\#(pair.refreshToken ?? "")","ttl":60}"#)
        case .emptyAccessTokenAndNewRefreshToken:
            return .json(#"{"access":"","refresh":"\#(rotated()?.refreshToken ?? "")"}"#)
        case .rejected: return refusal
        case .unavailable: return .respond(503)
        case .tooManyRequests: return .respond(429, headers: ["Retry-After": "7"])
        case .garbage: return .json(body)
        case .emptyAccessToken: return .json(#"{"access":""}"#)
        case .ambiguous: return .respond(401)
        case .forbidden: return .json(#"{"message":"Forbidden"}"#, status: 403)
        case .emptyForbidden: return .respond(403)
        case .page: return .respond(200, body: page)
        case .unauthorizedPage: return .respond(401, body: page)
        case .forbiddenPage: return .respond(403, body: page)
        case .badGatewayPage: return .respond(502, body: page)
        case .nothing: return .hold
        case .lostResponse:
            _ = rotated()
            return .close
        default: return .close
        }
    }
}
