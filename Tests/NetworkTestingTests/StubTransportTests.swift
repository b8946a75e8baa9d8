import Foundation
import NetworkCore
import NetworkTesting
import Testing

@Suite("StubTransport")
struct StubTransportTests {
    static let base = URL(string: "https://api.example.com/api/v1")

    func client(_ transport: StubTransport) throws -> NetworkClient {
        NetworkClient(baseURL: try #require(Self.base), transport: transport)
    }

    @Test func answersEachStubOnceInOrder() async throws {
        let transport = StubTransport(.get("n") ~> .envelope(1), .get("m") ~> .envelope(3), .get("n") ~> .envelope(2))
        let client = try client(transport)
        #expect(try await client.send(Endpoint<Int>.get("n")) == 1)
        #expect(try await client.send(Endpoint<Int>.get("n")) == 2)
        #expect(transport.leftovers.map(\.request) == [.get("m")])
        #expect(transport.requests.map(\.description) == ["GET /api/v1/n", "GET /api/v1/n"])
    }

    @Test func saysWhatItWasNotToldAbout() async throws {
        let client = try client(StubTransport(.post("n") ~> .status(204)))
        let error = try await #require(throws: NetworkError.self) { try await client.send(Endpoint<Void>.get("n")) }
        #expect(error.code == .unstubbed)
        #expect("\(error)".contains("GET /api/v1/n") && "\(error)".contains("POST n"))
    }

    @Test(arguments: [("n", true), ("v1/n", true), ("1/n", false), ("api/v1/n", true), ("N", false), ("", false)])
    func recognisesARequestByWholeSegments(path: String, isMatch: Bool) async throws {
        let transport = StubTransport(.get(path) ~> .status(204))
        let client = try client(transport)
        _ = try? await client.send(Endpoint<Void>.get("n"))
        #expect(transport.leftovers.isEmpty == isMatch)
    }

    @Test func keepsWhatWasSent() async throws {
        let transport = StubTransport(.any ~> .status(204))
        let call = Endpoint<Void>.put("n", query: ["a": 1], json: ["x": true]).header("X-Test", "y")
        try await client(transport).send(call)
        let request = try #require(transport.requests.first)
        #expect(request.method == .put)
        #expect(request.query == "a=1")
        #expect(request.headers["x-test"] == "y")
        #expect(request.body == Data(#"{"x":true}"#.utf8))
    }

    @Test(.stubs(.get("n") ~> .status(503), .get("n") ~> .envelope(7)))
    func comesWithATest() async throws {
        let retry = RetryPolicy(baseDelay: .zero)
        let base = try #require(Self.base)
        let client = NetworkClient(baseURL: base, transport: StubTransport.current, interceptors: [retry])
        #expect(try await client.send(Endpoint<Int>.get("n")) == 7)
    }

    @Test func leftoversFailTheTest() async throws {
        let trait = StubsTrait.stubs(.get("n") ~> .status(204))
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {}
        } matching: { issue in
            "\(issue)".contains("nobody asked for")
        }
    }

    @Test func whoHasNoTraitHasNoStubs() {
        #expect(StubTransport.current.leftovers.isEmpty)
    }
}
