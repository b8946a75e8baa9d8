import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct LogoutTests {
    private func logOut(_ client: TestClient, _ token: String) async throws -> Received.Response {
        try await client.post("/auth/logout", json: #"{"refreshToken": "\#(token)"}"#)
    }

    @Test(.server)
    func `a logout revokes both tokens, and a second one, or an unknown token, changes nothing`() async throws {
        let signedIn = try await client.signIn()
        #expect(try await logOut(client, signedIn.refreshToken).status == 200)
        #expect(try await client.get("/users/me", token: signedIn.accessToken).code == "SESSION_REVOKED")
        #expect(try await client.refresh(signedIn.refreshToken).code == "SESSION_REVOKED")
        #expect(try await logOut(client, signedIn.refreshToken).status == 200)
        #expect(try await logOut(client, "never-issued").status == 200)
        #expect(backend.statistics.logouts == 1)
    }

    @Test(.server) func `a logout from one session leaves the user's other sessions`() async throws {
        let token = try DevelopmentProvider().token(for: "apple", subject: "s", name: "Grace")
        let phone = try await client.logIn(token: token).data(Received.SignedIn.self)
        let tablet = try await client.logIn(token: token).data(Received.SignedIn.self)
        _ = try await logOut(client, phone.refreshToken)
        #expect(try await client.get("/users/me", token: phone.accessToken).status == 401)
        #expect(try await client.get("/users/me", token: tablet.accessToken).status == 200)
    }

    @Test(.server) func `an administrator can end every session of a user`() async throws {
        let ada = try await client.signIn()
        let grace = try await client.signIn(name: "Grace")
        #expect(try await backend.revokeSessions(ofUser: ada.user.id) == 1)
        #expect(try await client.refresh(ada.refreshToken).code == "SESSION_REVOKED")
        #expect(try await client.refresh(grace.refreshToken).status == 200)
        #expect(try await backend.revokeSessions(ofUser: ada.user.id) == 0)
        #expect(backend.statistics.logouts == 0)
    }
}
