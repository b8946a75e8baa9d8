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

    @Test(arguments: ["data", "json", "form", "multipart", "file", "stream"])
    func `other bodies are sent again in full`(kind: String) async throws {
        let content = Data("again".utf8)
        let file = try TemporaryFile(content)
        var form = MultipartForm()
        form.append("field", "again")
        let body: RequestBody =
            switch kind {
            case "data": .data(content)
            case "json": .json("again")
            case "form": .form(["field": "again"])
            case "multipart": .multipart(form)
            case "file": .file(file.url)
            default: .sequence { content.pieces }
            }
        let transport = StubTransport(responding: .status(401), .status(204))
        try await client(transport).send(Endpoint<Void>.post("files", body: body))
        #expect(transport.requests.count == 2 && transport.requests[0].body == transport.requests[1].body)
        #expect(transport.requests[1].body.map { String(decoding: $0, as: UTF8.self).contains("again") } == true)
    }
}
