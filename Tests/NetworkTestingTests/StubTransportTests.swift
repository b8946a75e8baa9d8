import Foundation
import NetworkCore
import NetworkTesting
import Testing

@Suite("StubTransport", .timeLimit(.minutes(10)))
struct StubTransportTests {
    static let base = URL(string: "https://api.example.com/api/v1")

    func client(_ transport: StubTransport) throws -> NetworkClient {
        NetworkClient(baseURL: try #require(Self.base), transport: transport)
    }

    @Test func `each stub serves one request, in order`() async throws {
        let transport = StubTransport(.get("n") ~> .json(1), .get("m") ~> .json(3), .get("n") ~> .json(2))
        let client = try client(transport)
        #expect(try await client.send(Endpoint<Int>.get("n")) == 1)
        #expect(try await client.send(Endpoint<Int>.get("n")) == 2)
        #expect(transport.leftovers.map(\.request) == [.get("m")])
        #expect(transport.requests.map(\.description) == ["GET /api/v1/n", "GET /api/v1/n"])
        transport.removeStubs()
    }

    @Test func `a repeated stub serves any number of requests`() async throws {
        let transport = StubTransport((.get("n") ~> .json(1)).repeated(), (.get("m") ~> .json(3)).repeated())
        let client = try client(transport)
        for _ in 0..<3 { #expect(try await client.send(Endpoint<Int>.get("n")) == 1) }
        #expect(transport.leftovers.isEmpty)
    }

    @Test func `an unexpected request fails the call and names the remaining stubs`() async throws {
        let transport = StubTransport(.post("n") ~> .status(204))
        let client = try client(transport)
        let error = try await withKnownIssueAndValue {
            try await #require(throws: NetworkError.self) { try await client.send(Endpoint<Void>.get("n")) }
        }
        #expect(error.code == .unstubbed)
        #expect("\(error)".contains("GET /api/v1/n") && "\(error)".contains("POST n"))
        transport.removeStubs()
    }

    @Test func `an unexpected request is an issue at the test if no stub has its path`()
        async throws
    {
        let test = try #require(Test.current)
        let (transport, line) = (StubTransport(), #line)
        let client = try client(transport)
        await withKnownIssue {
            _ = try? await client.send(Endpoint<Void>.get("n"))
        } matching: { issue in
            let text = "unexpected request GET /api/v1/n; remaining stubs: none"
            return issue.isRecorded(text, line: test.sourceLocation.line) && test.sourceLocation.line < line
        }
    }

    @Test func `a stub that is left is an issue where the stub was created`() {
        withKnownIssue {
            _ = StubTransport(
                .get("n") ~> .status(204))
        } matching: { issue in
            issue.isRecorded("no request used this stub: GET n", line: #line - 2)
        }
        let response = StubResponse.status(204)
        withKnownIssue {
            _ = StubTransport(.any ~> response)
        } matching: { issue in
            issue.isRecorded("no request used this stub: any method any path", line: #line - 2)
        }
    }

    @Test(arguments: [("n", true), ("v1/n", true), ("1/n", false), ("api/v1/n", true), ("N", false), ("", false)])
    func `a stub matches whole segments at the end of the path`(path: String, isMatch: Bool) async throws {
        let transport = StubTransport(.get(path) ~> .status(204))
        let client = try client(transport)
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
        #expect(request.method == .put)
        #expect(request.query == "a=1")
        #expect(request.headers["x-test"] == "y")
        #expect(request.body == Data(#"{"x":true}"#.utf8))
    }
}

extension Issue {
    /// Whether the issue was recorded with a text, in this file at a line.
    fileprivate func isRecorded(_ text: String, line: Int, fileID: String = #fileID) -> Bool {
        "\(self)".contains(text) && sourceLocation?.line == line && sourceLocation?.fileID == fileID
    }
}

/// Runs a closure that records an issue, and returns its value.
private func withKnownIssueAndValue<Value>(_ body: () async throws -> Value) async throws -> Value {
    var value: Value?
    await withKnownIssue { value = try await body() }
    return try #require(value)
}
