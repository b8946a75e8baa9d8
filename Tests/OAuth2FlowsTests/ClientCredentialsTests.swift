import AuthInterface
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import OAuth2Flows
import Testing

/// Client credentials (RFC 6749 §4.4): the call, and what its failures mean.
@Suite(.timeLimit(.minutes(10))) struct ClientCredentialsTests {
    private let first = TokenRefreshRequest(refreshToken: "")
    private static let token = #"{"access_token":"fixture-access","token_type":"Bearer","expires_in":3600}"#

    private func handler(
        _ network: any UnauthenticatedNetworkService, scope: String? = nil
    ) -> OAuth2ClientCredentials {
        OAuth2ClientCredentials(
            tokenEndpoint: .tokenEndpoint, client: .basic(id: "fixture-client", secret: "fixture-secret"),
            network: network, scope: scope)
    }

    @Test func `the call has the form of RFC 6749, with scope, target and client`() async throws {
        let transport = StubTransport(.any ~> .text(Self.token), .any ~> .text(Self.token))
        var handler = handler(NetworkClient(transport), scope: "read write")
        handler.target = try OAuth2Target(resources: [.api])
        _ = try await handler.refresh(first)
        (handler.scope, handler.target) = (nil, .unspecified)
        _ = try await handler.refresh(first)
        let call = try #require(transport.requests.first)
        let resource = URL.api.absoluteString.replacing(":", with: "%3A").replacing("/", with: "%2F")
        #expect(call.text == "grant_type=client_credentials&scope=read%20write&resource=\(resource)")
        #expect(call.method == .post && call.url == .tokenEndpoint && call.headers["Idempotency-Key"] == nil)
        #expect(call.headers["Authorization"]?.hasPrefix("Basic ") == true)
        #expect(transport.requests.last?.text == "grant_type=client_credentials")
    }

    @Test func `G31: the token comes with lifetime and scope, and without a refresh token`() async throws {
        let text = #"{"access_token":"fixture-access","expires_in":60,"scope":"read","refresh_token":"fixture-next"}"#
        let network = NetworkClient(StubTransport(.any ~> .text(text)))
        let tokens = try await handler(network, scope: "read write").refresh(first)
        #expect(tokens.accessToken == "fixture-access" && tokens.expiresIn == .seconds(60))
        #expect(tokens.refreshToken == nil)
        #expect(tokens.scope == "read" && tokens.requestedScope == "read write")
    }

    @Test func `it needs no refresh token, and its call may be repeated`() {
        let handler = handler(NetworkClient(StubTransport()))
        #expect(!handler.needsRefreshToken && handler.replayTolerance == .sameKey)
    }

    @Test(arguments: [
        "invalid_client", "invalid_grant", "interaction_required", "unauthorized_client", "invalid_scope", "own_word",
    ])
    func `G4: no error ends the session, and each has its status and code`(_ code: String) async throws {
        for status in [400, 401, 403] {
            let response = StubResponse.text(#"{"error":"\#(code)"}"#, status: status)
            let network = NetworkClient(StubTransport(.post("oauth2/token") ~> response))
            let error = await handler(network).refreshError(first)
            #expect(error?.code == .unavailable && error?.stepUp == nil)
            #expect(error?.status == status && error?.serverCode == code)
        }
    }
}
