#if AsyncHTTPClient
import ContractTesting
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import Testing

/// A token endpoint that redirects, over both transports and real sockets.
@Suite(.timeLimit(.minutes(20))) struct TokenCallRedirectTests {
    @Test(arguments: LostResponseTests.Subject.allCases, [301, 302, 303, 307, 308])
    func `G15: a token call follows no redirect over either transport`(
        over subject: LostResponseTests.Subject, status: Int
    ) async throws {
        let other = try LoopbackServer { _ in .json(#"{"access_token":"mallory"}"#) }
        defer { other.stop() }
        for target in [other.url.absoluteString, "/elsewhere"] {
            let server = try LoopbackServer { request in
                request.target == "/token"
                    ? .respond(status, headers: ["Location": target]) : .json(#"{"access_token":"mallory"}"#)
            }
            defer { server.stop() }
            let client = NetworkClient(
                baseURL: server.url, transport: subject.transport, interceptors: [RetryPolicy.standard])
            for body in [RequestBody.form(["grant_type": "refresh_token"]), .none] {
                let call = Endpoint<[String: String]>.post("token", body: body)
                for call in [call.asTokenCall(), call.allowingLateResponse()] {
                    let error = await #expect(throws: NetworkError.self) { try await client.send(call) }
                    #expect(error?.code == .redirectRefused && error?.status == status)
                }
            }
            #expect(server.requests.map(\.target) == Array(repeating: "/token", count: 4))
        }
        #expect(other.connectionCount == 0)
    }
}
#endif
