import AuthInterface
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

/// G23: a request stays with its session. G21: a one-shot body is never sent again.
@Suite("A request and its session", .timeLimit(.minutes(10)))
struct SessionFidelityTests {
    let provider = ScriptedTokenProvider(isAtHand: true)
    let clock = ManualTimeSource()

    func client(_ transport: StubTransport) -> AuthenticatedNetworkClient {
        NetworkClient(transport, interceptors: [RetryPolicy(random: 0.5)], clock: clock).authenticated(by: provider)
    }

    /// Sends a request that fails with 503, runs a closure during the pause, and continues.
    func send(_ transport: StubTransport, during pause: () -> Void) async throws -> Article {
        let task = Task { [client = client(transport)] in try await client.send(.article(7)) }
        try await clock.timer(in: .milliseconds(250))
        pause()
        clock.advance(by: .seconds(1))
        return try await task.value
    }

    @Test(arguments: [nil, SessionToken.ofAnotherSession])
    func `an account switch between two attempts ends the call`(next: SessionToken?) async throws {
        let transport = StubTransport(.any ~> .status(503))
        let error = await networkError {
            // Without another account it is a sign-out.
            try await send(transport) {
                provider.set(next.map { .success($0) } ?? .failure(AuthenticationError(.notSignedIn)))
            }
        }
        #expect(error?.code == .sessionEnded && transport.requests.count == 1)
    }

    @Test func `a refresh between two attempts does not end the call`() async throws {
        let transport = StubTransport(responding: .status(503), .article)
        _ = try await send(transport) { provider.set(.success(.first.next)) }
        #expect(transport.sent("Authorization") == ["Bearer access-0", "Bearer access-1"])
    }

    @Test func `a replacement of another session is not used`() async throws {
        provider.onReplacement { _ in .ofAnotherSession }
        let transport = StubTransport(.any ~> .status(401))
        #expect(await networkError { try await client(transport).send(.article(7)) }?.code == .sessionEnded)
        #expect(transport.requests.count == 1)
    }

    @Test func `a one-shot body is not sent again, but the token is replaced for the next call`() async throws {
        let asked = Gate(isOpen: true)
        provider.onReplacement { refused in
            await asked.pass()
            return refused.next
        }
        let transport = StubTransport(.any ~> .error(401, code: "TOKEN_EXPIRED"))
        let upload = Endpoint<Void>.post("files", body: .oneShot(Data("once".utf8).pieces))
        let error = try #require(await networkError { try await client(transport).send(upload) })
        #expect(error.code == .bodyNotReplayable && error.status == 401 && "\(error)".contains("one-shot"))
        try await asked.arrivals(atLeast: 1)
        #expect(transport.requests.map(\.body) == [Data("once".utf8)])
        // The refusal is the same as where the body can be sent again.
        #expect(provider.refusals.first?.endpoint == "POST https://api.example.com/api/v1/files")
        #expect(provider.refusals.first?.saysTokenIsInvalid == true)
    }

    // MARK: G15: a call that asks for tokens, or ends them, carries none, and only the response of its endpoint counts

    private let endpoint = Endpoint<Void>.post("token", json: ["refresh_token": "old"])
    private var tokenCalls: [Endpoint<Void>] { [endpoint.asTokenCall(), endpoint.allowingLateResponse()] }

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

    @Test func `G8: no interceptor has a token call sent again`() async throws {
        for call in tokenCalls {
            let transport = StubTransport((.any ~> .status(503)).repeated())
            let client = NetworkClient(transport, interceptors: [NetworkClientTests.AlwaysRetry()])
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
