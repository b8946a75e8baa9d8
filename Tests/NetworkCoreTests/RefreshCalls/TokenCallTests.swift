import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

/// G15: a call that asks for tokens, or ends them, carries none, and only the response of its endpoint counts.
@Suite(.timeLimit(.minutes(10))) struct TokenCallTests {
    private let endpoint = Endpoint<Void>.post("token", json: ["refresh_token": "old"])
    private var tokenCalls: [Endpoint<Void>] { [endpoint.asTokenCall(), endpoint.allowingLateResponse()] }

    private func client(_ transport: StubTransport) -> AuthenticatedNetworkClient {
        NetworkClient(transport).authenticated(by: ScriptedTokenProvider())
    }

    @Test func `a token call carries no token of the session`() async throws {
        let transport = StubTransport(responding: .status(204), .status(204), .status(204))
        for call in [endpoint] + tokenCalls { try await client(transport).send(call) }
        #expect(transport.sent("Authorization").map { $0 != nil } == [true, false, false])
        #expect(transport.sent("Accept-Encoding") == [nil, "identity", "identity"])
        // A refresh is waited for as long as the engine waits for its call.
        #expect(transport.requests.last?.idleTimeout == .seconds(120))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a token call follows no redirect, within its origin neither`(status: Int) async throws {
        for call in tokenCalls {
            let transport = StubTransport(responding: .redirect(status, to: "/other"))
            #expect(await networkError { try await client(transport).send(call) }?.code == .redirectRefused)
            #expect(transport.requests.count == 1)
        }
    }

    private struct Stubborn: RequestInterceptor {
        func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision {
            .retry(after: .zero)
        }
    }

    @Test func `G8: no interceptor has a token call sent again`() async throws {
        for call in tokenCalls {
            let transport = StubTransport((.any ~> .status(503)).repeated())
            let client = NetworkClient(transport, interceptors: [Stubborn()])
            #expect(await networkError { try await client.send(call) }?.status == 503)
            #expect(transport.requests.count == 1)
        }
    }

    @Test(arguments: [(64, 401), (65, nil)] as [(Int, Int?)])
    func `a refusal whose body is too long to read is no whole response`(length: Int, status: Int?) async throws {
        let transport = StubTransport(responding: .status(401, body: Data(repeating: 0x20, count: length)))
        let client = NetworkClient(transport) { $0.maximumResponseSize = 64 }
        let error = await networkError { try await client.send(endpoint.allowingLateResponse()) }
        #expect(error?.status == 401 && error?.statusOfWholeResponse == status)
    }

    @Test func `a body that cannot be read has lost its tokens`() async throws {
        let body = HTTPBody { () async throws -> Data? in
            throw HTTPTransportError(.invalidResponse, reason: "the size of a chunk is no number")
        }
        let damaged = StubResponse { _ in HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: body) }
        let error = await networkError { try await client(StubTransport(.any ~> damaged)).send(endpoint.asTokenCall()) }
        #expect(error?.status == 200 && error?.statusOfWholeResponse == nil)
    }

    @Test func `a call with a token may leave its origin by a redirect, and its token stays`() async throws {
        let transport = StubTransport(responding: .redirect(303, to: "https://files.example.net/1"), .status(204))
        try await client(transport).send(endpoint)
        #expect(transport.sent("Authorization").map { $0 != nil } == [true, false])
    }
}
