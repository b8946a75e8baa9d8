import Foundation
import NetworkCore
import NetworkTesting
import Testing
import TokenExchange

@Suite struct TokenExchangeTests {
    /// Exchanges a token at a server with a response, and checks the form that was sent.
    private func exchanging(_ body: String, status: Int = 200) async throws -> TokenExchange.Issued {
        let url = try #require(URL(string: "https://id.example.com/token"))
        let response = StubResponse.status(status, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
        let transport = StubTransport(.post("token") ~> response)
        let network = NetworkClient(baseURL: url, transport: transport)
        defer {
            let form = transport.requests.first.map { String(decoding: $0.body ?? Data(), as: UTF8.self) } ?? ""
            for part in ["audience=billing", "subject_token=access-ada", "client_id=gateway", "client_secret=hidden"] {
                #expect(form.contains(part))
            }
        }
        return try await TokenExchange(endpoint: url, id: "gateway", secret: "hidden", network: network)
            .token(for: "billing", from: "access-ada")
    }

    private func issued(_ type: String) -> String {
        #"{"access_token":"billing-1","token_type":"Bearer","expires_in":60,"#
            + #""issued_token_type":"urn:ietf:params:oauth:token-type:\#(type)"}"#
    }

    @Test func `a token is exchanged for one of the other service`() async throws {
        let token = try await exchanging(issued("access_token"))
        #expect(token.token == "billing-1" && token.expiresIn == 60)
    }

    @Test func `a token of another type is an error, and so is a refusal, which quotes no token`() async throws {
        await #expect(throws: TokenExchange.OtherType.self) { try await exchanging(issued("refresh_token")) }
        let error = await #expect(throws: NetworkError.self) {
            try await exchanging(#"{"error":"invalid_target","hint":"access-ada"}"#, status: 400)
        }
        #expect(error?.status == 400 && !"\(error as Any)".contains("access-ada"))
    }
}
