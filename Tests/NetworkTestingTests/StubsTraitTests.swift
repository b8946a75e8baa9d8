import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@Suite("The trait .stubs(…)", .timeLimit(.minutes(10)))
struct StubsTraitTests {
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
