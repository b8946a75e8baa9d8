import DevBackend
import Foundation
import Testing

@Suite struct RegistrationTests {
    @Test func aGuestWithANameAndAPhotoIsSignedIn() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let image = jpeg(width: 1024, height: 768, length: 40_000)

            let answer = try await client.register(MultipartBody.registration(name: "Ada Lovelace", image: image))

            #expect(answer.status == 201)
            let signedIn = try answer.data(SignedIn.self)
            #expect(signedIn.user.name == "Ada Lovelace")
            let me = try await client.get("/users/me", token: signedIn.accessToken)
            #expect(try me.data(ReceivedUser.self) == signedIn.user)
            let key = try signedIn.user.profileImageKey.required("an image key")
            #expect(signedIn.user.profileUrl == "\(backend.baseURL.absoluteString)/files/\(key)")
            let file = try await client.get("/files/\(key)", token: signedIn.accessToken)
            #expect(file.header("Content-Type") == "image/jpeg")
            #expect(file.data == image)
            #expect(backend.statistics.registrations == 1)
        }
    }
}
