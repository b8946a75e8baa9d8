import DevBackend
import Foundation
import ProgramTesting
import Testing

@Suite(.hangLimit) struct LifecycleTests {
    @Test(.server { $0.accessTokenLifetime = .seconds(2) })
    func `the description of a server has its OAuth 2 client without the secret`() async throws {
        let description = backend.serverDescription
        #expect(description.baseURL == backend.baseURL)
        #expect(description.oauth2ClientID == "latchkey-dev")
        #expect(description.oauth2ClientAuthentication == ["client_secret_basic", "client_secret_post"])
        #expect(description.accessTokenLifetimeSeconds == 2)
        #expect(!description.allowsDevEndpoints)
        for (endpoint, path) in [
            (description.tokenEndpoint, "/oauth2/token"), (description.revocationEndpoint, "/oauth2/revoke"),
        ] {
            #expect(endpoint.absoluteString == backend.baseURL.absoluteString + path)
            #expect(try await client.post(path, form: "").member("error") == "invalid_client")
        }
        let secret = try #require(backend.configuration.oauth2Client.secret)
        let written = String(decoding: try JSONEncoder().encode(description), as: UTF8.self)
        #expect(!written.contains(secret) && !"\(description)".contains(secret))
    }

    @Test func `stopping does not wait for a client that never finishes`() async throws {
        let backend = try await DevBackend.start()
        let gate = backend.hold("POST", "/auth/refresh")
        gate.open()
        let connection = try await RawConnection.open(to: backend)
        try await connection.send("POST /api/v1/auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        await gate.arrivals(1)
        await backend.stop()
        _ = await connection.receiveText()
    }
}
