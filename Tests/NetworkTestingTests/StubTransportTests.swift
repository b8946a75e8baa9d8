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
}

extension Issue {
    /// Whether the issue was recorded with a text, in this file at a line.
    fileprivate func isRecorded(_ text: String, line: Int, fileID: String = #fileID) -> Bool {
        "\(self)".contains(text) && sourceLocation?.line == line && sourceLocation?.fileID == fileID
    }
}
