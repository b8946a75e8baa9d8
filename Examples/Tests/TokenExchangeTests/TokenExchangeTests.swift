import Foundation
import Hummingbird
import NIOCore
import NetworkAsyncHTTPClient
import NetworkCore
import NotesServer
import Testing
import TokenExchange

@Suite(.timeLimit(.minutes(20))) struct TokenExchangeTests {
    /// Runs a server that responds to each exchange alike.
    private func exchanging(
        _ response: Response, _ test: (TokenExchange) async throws -> Void
    ) async throws {
        let router = Router()
        router.post("token") { request, _ in
            let form = String(buffer: try await request.body.collect(upTo: 4_096))
            let parts = ["audience=billing", "subject_token=access-ada", "client_id=gateway", "client_secret=hidden"]
            return parts.allSatisfy(form.contains) ? response : Response(status: .badRequest)
        }
        try await serving(router) { url in
            let network = NetworkClient(baseURL: url, transport: AsyncHTTPClientTransport())
            try await test(
                TokenExchange(
                    endpoint: url.appendingPathComponent("token"), id: "gateway", secret: "hidden", network: network))
        }
    }

    private func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private func issued(_ type: String) -> Response {
        json(
            #"{"access_token":"billing-1","token_type":"Bearer","expires_in":60,"#
                + #""issued_token_type":"urn:ietf:params:oauth:token-type:\#(type)"}"#)
    }

    @Test func `a token is exchanged for one of the other service`() async throws {
        try await exchanging(issued("access_token")) { exchange in
            let token = try await exchange.token(for: "billing", from: "access-ada")
            #expect(token.token == "billing-1" && token.expiresIn == 60)
        }
    }

    @Test func `a token of another type is an error, and so is a refusal, which quotes no token`() async throws {
        try await exchanging(issued("refresh_token")) { exchange in
            await #expect(throws: TokenExchange.OtherType.self) {
                try await exchange.token(for: "billing", from: "access-ada")
            }
        }
        let refusal = json(#"{"error":"invalid_target","hint":"access-ada"}"#, status: .badRequest)
        try await exchanging(refusal) { exchange in
            let error = await #expect(throws: NetworkError.self) {
                try await exchange.token(for: "billing", from: "access-ada")
            }
            #expect(error?.status == 400 && !"\(error as Any)".contains("access-ada"))
        }
    }
}
