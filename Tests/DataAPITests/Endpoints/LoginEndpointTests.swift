import AuthInterface
import DataAPI
import Foundation
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

    @Test func aGuestIsAFormWithNameAndJPEG() async throws {
        let transport = StubTransport(.post("auth/guest/register") ~> signedIn())
        let answer = try await NetworkClient(transport).send(.registerGuest(name: "Ada", photo: Data("photo".utf8)))
        let request = try #require(transport.requests.first)
        #expect(request.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(request.text.contains("name=\"name\"\r\n\r\nAda\r\n"))
        let image = "name=\"image\"; filename=\"photo.jpg\"\r\nContent-Type: image/jpeg\r\n\r\nphoto\r\n"
        #expect(request.text.contains(image))

        #expect(answer.user.id == 3)
        #expect(answer.user.profileURL?.absoluteString == "https://cdn.example.com/a.jpg")
        #expect(answer.user.profileImageKey == FileKey(rawValue: "a.jpg"))
        #expect(
            answer.tokens.result
                == TokenRefreshResult(
                    accessToken: "fixture-access", refreshToken: "fixture-refresh", serverDate: answerDate))
    }

    @Test("nobody fails to sign in for a picture's address", arguments: ["null", #""""#, "7"])
    func oddPicture(_ address: String) async throws {
        let transport = StubTransport(.any ~> signedIn(profileURL: address))
        let answer = try await NetworkClient(transport).send(.socialLogin(.kakao, token: "fixture"))
        #expect(answer.user.profileURL == nil)
    }

    @Test func aSocialLoginSendsTheProvidersTokenInTheBody() async throws {
        let transport = StubTransport(.post("auth/social/login") ~> signedIn())
        _ = try await NetworkClient(transport).send(.socialLogin(.kakao, token: "fixture-provider-token"))
        let request = try #require(transport.requests.first)
        #expect(request.json == ["provider": "kakao", "token": "fixture-provider-token"])
        #expect(request.headers["Authorization"] == nil)
    }

    @Test func noAnswerShowsItsTokens() {
        let tokens = IssuedTokens(TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        let answer = SignedIn(user: User(id: 1, name: "Ada"), tokens: tokens)
        var text = "\(answer) \(String(reflecting: answer)) \(tokens) \(String(reflecting: tokens))"
        dump(answer, to: &text)
        #expect(!text.contains("fixture-"))
    }
}
