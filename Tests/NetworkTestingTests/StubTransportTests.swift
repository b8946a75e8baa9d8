import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@Suite("StubTransport", .timeLimit(.minutes(10)))
struct StubTransportTests {
    func client(_ transport: StubTransport) -> NetworkClient { NetworkClient(baseURL: baseURL, transport: transport) }

    @Test func `each stub serves one request, in order`() async throws {
        let transport = StubTransport(.get("n") ~> .json(1), .get("m") ~> .json(3), .get("n") ~> .json(2))
        let client = client(transport)
        #expect(try await client.send(Endpoint<Int>.get("n")) == 1)
        #expect(try await client.send(Endpoint<Int>.get("n")) == 2)
        #expect(transport.leftovers.map(\.request) == [.get("m")])
        #expect(transport.requests.map(\.description) == ["GET /api/v1/n", "GET /api/v1/n"])
        transport.removeStubs()
    }

    @Test func `a repeated stub serves any number of requests`() async throws {
        let transport = StubTransport((.get("n") ~> .json(1)).repeated(), (.get("m") ~> .json(3)).repeated())
        let client = client(transport)
        for _ in 0..<3 { #expect(try await client.send(Endpoint<Int>.get("n")) == 1) }
        #expect(transport.leftovers.isEmpty)
    }

    @Test func `an unexpected request fails the call and names the remaining stubs`() async throws {
        let transport = StubTransport(.post("n") ~> .status(204))
        let client = client(transport)
        var error: NetworkError?
        await withKnownIssue {
            error = await #expect(throws: NetworkError.self) { try await client.send(Endpoint<Void>.get("n")) }
        }
        #expect(error?.code == .unstubbed)
        let text = error.map(String.init(describing:)) ?? ""
        #expect(text.contains("GET /api/v1/n") && text.contains("POST n"))
        transport.removeStubs()
    }

    @Test(arguments: [("n", true), ("v1/n", true), ("1/n", false), ("api/v1/n", true), ("N", false), ("", false)])
    func `a stub matches whole segments at the end of the path`(path: String, isMatch: Bool) async throws {
        let transport = StubTransport(.get(path) ~> .status(204))
        let client = client(transport)
        let send = { _ = try? await client.send(Endpoint<Void>.get("n")) }
        if isMatch { await send() } else { await withKnownIssue { await send() } }
        #expect(transport.leftovers.isEmpty == isMatch)
        transport.removeStubs()
    }

    @Test func `a request is recorded with its query, fields and body`() async throws {
        let transport = StubTransport(.any ~> .status(204))
        let call = Endpoint<Void>.put("n", query: ["a": 1], json: ["x": true]).header("X-Test", "y")
        try await client(transport).send(call)
        let request = try #require(transport.requests.first)
        #expect(request.method == .put && request.query == "a=1" && request.headers["x-test"] == "y")
        #expect(request.body == Data(#"{"x":true}"#.utf8))
    }

    // MARK: The trait .stubs(…)

    @Test(.stubs(.get("n") ~> .status(503), .get("n") ~> .json(7)))
    func `a test has a transport with its stubs`() async throws {
        let retry = RetryPolicy(baseDelay: .zero)
        let client = NetworkClient(baseURL: baseURL, transport: StubTransport.current, interceptors: [retry])
        #expect(try await client.send(Endpoint<Int>.get("n")) == 7)
    }

    @Test func `an unexpected request is an issue at the stub with the same path, and else at the test`() async throws {
        let test = try #require(Test.current)
        let (trait, line) = (StubsTrait.stubs(.post("n") ~> .status(204)), #line)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {
                let client = NetworkClient(baseURL: baseURL, transport: StubTransport.current)
                _ = try? await client.send(Endpoint<Void>.get("n"))
                StubTransport.current.removeStubs()
                _ = try? await client.send(Endpoint<Void>.get("m"))
            }
        } matching: { issue in
            let isOfStub = issue.sourceLocation?.line == line
            let isOfTest = issue.sourceLocation == test.sourceLocation
            return "\(issue)".contains("unexpected request GET /api/v1/n") && isOfStub
                || "\(issue)".contains("unexpected request GET /api/v1/m") && isOfTest
        }
    }

    @Test func `what is left is an issue at the end of the test, although something holds the double`() async throws {
        let test = try #require(Test.current)
        let held = Locked<[any Sendable]>([])
        let lines = Locked<Set<Int>>([])
        try await withKnownIssue {
            try await StubsTrait.stubs().provideScope(for: test, testCase: nil) {
                let transport = StubTransport(.get("n") ~> .status(204))
                let network = StubNetworkService()
                network.on(Endpoint<Int>.get("n"), return: 7)
                lines.withLock { $0 = [#line - 3, #line - 1] }
                held.withLock { $0 = [transport, network] }
            }
        } matching: { issue in
            guard let line = issue.sourceLocation?.line else { return false }
            return lines.withLock { $0.remove(line) != nil }
        }
        #expect(held.withLock { $0.count } == 2 && lines.withLock { $0.isEmpty })
    }

    @Test func `a test without the trait has no stubs`() {
        #expect(StubTransport.current.leftovers.isEmpty)
        #expect(StubTransport.current !== StubTransport.current, "tests have none in common")
    }
}
