import AuthInterface
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@Suite("A transport that wraps a transport", .timeLimit(.minutes(10)))
struct WrappingTransportTests {
    /// What works around an exchange: it changes the request, sees the response, and passes events on.
    struct Signing: HTTPTransport {
        let next: any HTTPTransport
        let seen: Recorder<String>

        func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            var request = request
            try request.head.set("Signature", to: "\(request.head.method) attempt \(request.context.attempt)")
            let response = try await next.perform(request)
            seen.record("\(response.head.status) for \(request.context.session?.rawValue ?? "no session")")
            return response
        }
    }

    /// Prints each request, as a log does.
    struct Printing: HTTPTransport {
        let next: any HTTPTransport
        let printed: Recorder<String>

        func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            printed.record("\(request)")
            return try await next.perform(request)
        }
    }

    @Test func `G17: a request that it prints shows no secret of the path`() async throws {
        let printed = Recorder<String>()
        let client = NetworkClient(Printing(next: StubTransport(responding: .status(204)), printed: printed))
        try await client.send(Endpoint<Void>.post("links/\(secret: "canary-1")/open", body: .none))
        #expect(printed.values.count == 1 && printed.values[0].contains("links"))
        #expect(!printed.values[0].contains("canary"))
    }

    @Test func `it sees the session of the call also where a redirect has left the origin of the token`() async throws {
        let stubs = StubTransport(
            responding: .redirect(to: "https://cdn.example.com/photo"), .redirect(to: "/other"), .status(204),
            .status(204))
        let seen = Recorder<String>()
        let client = NetworkClient(Signing(next: stubs, seen: seen)).authenticated(by: ScriptedTokenProvider())
        try await client.send(Endpoint<Void>.get("photo"))
        try await client.send(Endpoint<Void>.get("public").withoutAuthentication())
        #expect(
            seen.values == ["302 for session-a", "302 for session-a", "204 for session-a", "204 for no session"])
        #expect(stubs.sent("Authorization").map { $0 != nil } == [true, false, false, false])
    }

    @Test func `it sees the call, its session and each attempt`() async throws {
        let stubs = StubTransport(responding: .status(401), .status(204))
        let seen = Recorder<String>()
        let client = NetworkClient(Signing(next: stubs, seen: seen)).authenticated(by: ScriptedTokenProvider())
        try await client.send(Endpoint<Void>.get("x"))
        #expect(stubs.sent("Signature") == ["GET attempt 1", "GET attempt 2"])
        #expect(Set(stubs.requests.map(\.context.id)).count == 1)
        #expect(seen.values == ["401 for session-a", "204 for session-a"])
    }
}
