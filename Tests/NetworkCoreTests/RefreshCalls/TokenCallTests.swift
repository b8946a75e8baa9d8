import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

/// G15: a call that asks for tokens, or ends them, carries none, and only the response of its endpoint counts.
@Suite(.timeLimit(.minutes(10))) struct TokenCallTests {
    private let endpoint = Endpoint<Void>.post("token", json: ["refresh_token": "old"])

    private func client(_ transport: StubTransport) -> AuthenticatedNetworkClient {
        NetworkClient(configuration: NetworkConfiguration(baseURL: baseURL), transport: transport)
            .authenticated(by: ScriptedTokenProvider())
    }

    @Test func `a token call carries no token of the session`() async throws {
        let transport = StubTransport(.any ~> .status(204), .any ~> .status(204), .any ~> .status(204))
        let client = client(transport)
        try await client.send(endpoint)
        try await client.send(endpoint.asTokenCall())
        try await client.send(endpoint.allowingLateResponse())
        #expect(transport.requests.map { $0.headers["Authorization"] != nil } == [true, false, false])
        #expect(transport.requests.map { $0.headers["Accept-Encoding"] } == [nil, "identity", "identity"])
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a token call follows no redirect, within its origin neither`(status: Int) async throws {
        for call in [endpoint.asTokenCall(), endpoint.allowingLateResponse()] {
            let transport = StubTransport(.any ~> .status(status, headers: ["Location": "/other"]))
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
        for call in [endpoint.asTokenCall(), endpoint.allowingLateResponse()] {
            let transport = StubTransport((.any ~> .status(503)).repeated())
            let client = NetworkClient(baseURL: baseURL, transport: transport, interceptors: [Stubborn()])
            #expect(await networkError { try await client.send(call) }?.status == 503)
            #expect(transport.requests.count == 1)
        }
    }

    @Test(arguments: [(64, 401), (65, nil)] as [(Int, Int?)])
    func `a refusal whose body is too long to read is no whole response`(length: Int, status: Int?) async throws {
        let transport = StubTransport(.any ~> .status(401, body: Data(repeating: 0x20, count: length)))
        var configuration = NetworkConfiguration(baseURL: baseURL)
        configuration.maximumResponseSize = 64
        let client = NetworkClient(configuration: configuration, transport: transport)
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

    @Test func `a refresh is waited for as long as the engine waits for its call`() async throws {
        let transport = StubTransport(.any ~> .status(204))
        try await client(transport).send(endpoint.allowingLateResponse())
        #expect(transport.requests.map(\.idleTimeout) == [.seconds(120)])
    }

    @Test func `a call with a token may leave its origin by a redirect, and its token stays`() async throws {
        let elsewhere: HTTPHeaders = ["Location": "https://files.example.net/1"]
        let transport = StubTransport(.any ~> .status(303, headers: elsewhere), .any ~> .status(204))
        try await client(transport).send(endpoint)
        #expect(transport.requests.map { $0.headers["Authorization"] != nil } == [true, false])
    }
}
