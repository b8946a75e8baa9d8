import Foundation
import NetworkCore
import NetworkTesting
import Testing

@Suite("The trait .stubs(…)")
struct StubsTraitTests {
    static let base = URL(string: "https://api.example.com/api/v1")

    @Test(.stubs(.get("n") ~> .status(503), .get("n") ~> .envelope(7)))
    func `a test has a transport with its stubs`() async throws {
        let retry = RetryPolicy(baseDelay: .zero)
        let base = try #require(Self.base)
        let client = NetworkClient(baseURL: base, transport: StubTransport.current, interceptors: [retry])
        #expect(try await client.send(Endpoint<Int>.get("n")) == 7)
    }

    @Test func `a stub that is left is an issue where the stub was created`() async throws {
        let (trait, line) = (StubsTrait.stubs(.get("n") ~> .status(204)), #line)
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {}
        } matching: { issue in
            "\(issue)".contains("no request used this stub: GET n") && issue.sourceLocation?.line == line
        }
    }

    @Test func `an unexpected request is an issue where the trait was created`() async throws {
        let (trait, line) = (StubsTrait.stubs(), #line)
        let test = try #require(Test.current)
        let base = try #require(Self.base)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {
                let client = NetworkClient(baseURL: base, transport: StubTransport.current)
                _ = try? await client.send(Endpoint<Void>.get("n"))
            }
        } matching: { issue in
            "\(issue)".contains("unexpected request GET /api/v1/n") && issue.sourceLocation?.line == line
        }
    }

    @Test func `a test without the trait has no stubs`() {
        #expect(StubTransport.current.leftovers.isEmpty)
    }
}
