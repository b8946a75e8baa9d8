import AuthInterface
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@Suite struct LoginEndpointTests {
    private func signedIn(profileURL: String = #""https://cdn.example.com/a.jpg""#) -> StubResponse {
        .text(
            #"""
            {"success":true,"data":{"user":{"id":3,"name":"Ada","profileUrl":\#(profileURL),"profileImageKey":"a.jpg"},
            "accessToken":"fixture-access","refreshToken":"fixture-refresh"}}
            """#)
    }

    @Test func `a guest is registered with a form of name and JPEG`() async throws {
        let transport = StubTransport(.post("auth/guest/register") ~> signedIn())
        let response = try await NetworkClient(transport).send(.registerGuest(name: "Ada", photo: Data("photo".utf8)))
        let request = try #require(transport.requests.first)
        #expect(request.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(request.text.contains("name=\"name\"\r\n\r\nAda\r\n"))
        let image = "name=\"image\"; filename=\"photo.jpg\"\r\nContent-Type: image/jpeg\r\n\r\nphoto\r\n"
        #expect(request.text.contains(image))

        #expect(response.user.id == 3)
        #expect(response.user.profileURL?.absoluteString == "https://cdn.example.com/a.jpg")
        #expect(response.user.profileImageKey == FileKey(rawValue: "a.jpg"))
        #expect(
            response.tokens.result
                == TokenRefreshResult(
                    accessToken: "fixture-access", refreshToken: "fixture-refresh", serverDate: StubResponse.date))
    }

    @Test(arguments: ["null", #""""#, "7"])
    func `an invalid profile URL counts as no picture`(_ address: String) async throws {
        let transport = StubTransport(.any ~> signedIn(profileURL: address))
        let response = try await NetworkClient(transport).send(.socialLogin(.kakao, token: "fixture"))
        #expect(response.user.profileURL == nil)
    }

    @Test func `a social login sends the provider's token in the body`() async throws {
        let transport = StubTransport(.post("auth/social/login") ~> signedIn())
        _ = try await NetworkClient(transport).send(.socialLogin(.kakao, token: "fixture-provider-token"))
        let request = try #require(transport.requests.first)
        #expect(request.json == ["provider": "kakao", "token": "fixture-provider-token"])
        #expect(request.headers["Authorization"] == nil)
    }

    @Test func `no description of a login response shows its tokens`() {
        let tokens = IssuedTokens(TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        let response = SignedIn(user: User(id: 1, name: "Ada"), tokens: tokens)
        var text = "\(response) \(String(reflecting: response)) \(tokens) \(String(reflecting: tokens))"
        dump(response, to: &text)
        #expect(!text.contains("fixture-"))
    }
}
