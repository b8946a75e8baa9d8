import AuthInterface
import HandlerTesting
import NetworkTesting
import OAuth2Flows
import Testing

/// G4 for an OAuth 2.0 token endpoint: every status with every error and media type.
@Suite(.timeLimit(.minutes(10))) struct VerdictTests {
    static let otherBodies = [
        #"{"error":"invalid_request"}"#, #"{"error":"invalid_client"}"#, #"{"error":"unauthorized_client"}"#,
        #"{"error":"unsupported_grant_type"}"#, #"{"error":"invalid_scope"}"#, #"{"error":"invalid_target"}"#,
        #"{"error":"server_error"}"#,
        #"{"error":"temporarily_unavailable"}"#, #"{"error":"of_their_own"}"#, #"{"error":"INVALID_GRANT"}"#,
        #"{"error":{"code":"invalid_grant"}}"#, #"{"code":"invalid_grant"}"#, #"{"message":"Unauthorized"}"#,
        #"{"success":false,"code":"REFRESH_TOKEN_INVALID"}"#, #"{"error":"invalid_gr"#, "{}", "[]", "", "invalid_grant",
        "<html>invalid_grant</html>", "  <!DOCTYPE html>",
    ]

    static func error(after response: StubResponse) async -> TokenRefreshError? {
        let client = OAuth2Client.basic(id: "fixture-client", secret: "fixture-secret")
        return await OAuth2TokenRefreshHandler(StubTransport(.post("oauth2/token") ~> response), as: client)
            .refreshError()
    }

    @Test(arguments: RefusalCases.statuses)
    func `invalid_grant ends the session with 400, 401 and 403 only`(_ status: Int) async throws {
        for body in [#"{"error":"invalid_grant"}"#, #"{"code":400,"error":"invalid_grant"}"#] {
            for type in RefusalCases.mediaTypes {
                let error = await Self.error(after: .body(body, status: status, type: type))
                #expect(error?.code == ([400, 401, 403].contains(status) ? .rejected : .unavailable))
                #expect(error?.status == status)
                if error?.code == .rejected { #expect(error?.serverCode == "invalid_grant") }
            }
        }
    }

    @Test(arguments: otherBodies)
    func `no other body ends the session, or is ambiguous`(_ body: String) async throws {
        for status in RefusalCases.statuses {
            for type in RefusalCases.mediaTypes {
                let error = await Self.error(after: .body(body, status: status, type: type))
                #expect(error?.code == .unavailable, "\(status) \(type ?? "no type")")
                #expect(error?.status == status)
            }
        }
    }

    @Test func `a refused client is reported as a wrong configuration`() async throws {
        let responses: [StubResponse] = [.text(#"{"error":"invalid_client"}"#, status: 401), .status(401)]
        for response in responses {
            #expect(await Self.error(after: response)?.reason?.contains("identifier and secret") == true)
        }
    }

    @Test func `tokens of a type other than bearer are not used`() async throws {
        let error = await Self.error(after: .text(#"{"access_token":"fixture-access","token_type":"DPoP"}"#))
        #expect(error?.code == .unavailable && error?.status == 200)
        #expect(error?.reason?.contains("bearer") == true)
    }
}
