import AuthInterface
import DataAPI
import NetworkCore
import NetworkTesting
import Testing

/// G4 for an OAuth 2.0 token endpoint, row by row.
@Suite struct OAuth2VerdictTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let error: String
        let verdict: TokenRefreshError.Code

        var testDescription: String { "\(status) \(error) is \(verdict)" }
    }

    static let rows: [Row] = [
        Row(status: 400, error: "invalid_grant", verdict: .rejected),
        Row(status: 401, error: "invalid_grant", verdict: .rejected),
        Row(status: 403, error: "invalid_grant", verdict: .rejected),
        Row(status: 500, error: "invalid_grant", verdict: .unavailable),
        Row(status: 429, error: "invalid_grant", verdict: .unavailable),
        Row(status: 408, error: "invalid_grant", verdict: .unavailable),
        Row(status: 425, error: "invalid_grant", verdict: .unavailable),
        Row(status: 404, error: "invalid_grant", verdict: .unavailable),
        Row(status: 400, error: "invalid_request", verdict: .unavailable),
        Row(status: 401, error: "invalid_client", verdict: .unavailable),
        Row(status: 400, error: "invalid_client", verdict: .unavailable),
        Row(status: 400, error: "unauthorized_client", verdict: .unavailable),
        Row(status: 400, error: "unsupported_grant_type", verdict: .unavailable),
        Row(status: 400, error: "invalid_scope", verdict: .unavailable),
        Row(status: 400, error: "temporarily_unavailable", verdict: .unavailable),
        Row(status: 503, error: "temporarily_unavailable", verdict: .unavailable),
        Row(status: 500, error: "server_error", verdict: .unavailable),
        Row(status: 400, error: "of_their_own", verdict: .unavailable),
    ]

    static let answers: [StubAnswer] = [
        .failure(.connectionFailed), .failure(.timedOut), .status(400), .status(401), .status(403), .status(502),
        .text("<html>No.</html>", status: 403, type: "text/html"), .text("not JSON"), .text("{}"),
        .text(#"{"access_token":"","token_type":"Bearer"}"#), .text(#"{"error":"invalid_grant"}"#, status: 302),
    ]

    private func error(after answer: StubAnswer) async -> TokenRefreshError? {
        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint,
            client: .basic(id: "fixture-client", secret: "fixture-secret"),
            network: NetworkClient(StubTransport(.post("oauth2/token") ~> answer))
        )
        return await #expect(throws: TokenRefreshError.self) {
            try await handler.refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
        }
    }

    @Test("of all errors, only invalid_grant ends the session", arguments: rows)
    func verdict(_ row: Row) async throws {
        let error = await error(after: .text(#"{"error":"\#(row.error)"}"#, status: row.status))
        #expect(error?.code == row.verdict)
    }

    @Test("what no OAuth 2.0 server says does not end the session", arguments: answers.indices)
    func unreadable(_ index: Int) async throws {
        #expect(await error(after: Self.answers[index])?.code == .unavailable)
    }

    @Test func aMisconfiguredClientIsToldSo() async throws {
        let error = await error(after: .text(#"{"error":"invalid_client"}"#, status: 401))
        #expect(error?.reason?.contains("check the client's identifier and secret") == true)
    }

    @Test func tokensOfAnotherTypeAreNotUsed() async throws {
        let error = await error(after: .text(#"{"access_token":"fixture-access","token_type":"DPoP"}"#))
        #expect(error?.code == .unavailable)
    }
}
