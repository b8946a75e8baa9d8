import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkDoubles
import Testing

/// The doubles report through a closure, so that any test framework can fail a test.
@Suite struct StubIssueTests {
    private let issues = Locked<[StubIssue]>([])
    private let base = URL(string: "https://api.example.com/api/v1")

    private var handler: StubIssue.Handler {
        { [issues] issue in issues.withLock { $0.append(issue) } }
    }

    @Test func `a stub that is left is an issue at its line`() throws {
        do {
            let network = StubNetworkService(onIssue: handler)
            network.on(Endpoint<Int>.get("n"), return: 7)
            let transport = StubTransport(.get("m") ~> .status(204), onIssue: handler)
            let other = StubTransport(.any ~> .status(204), onIssue: handler)
            #expect(network.leftovers.count == 1 && transport.leftovers.count == 1 && other.leftovers.count == 1)
        }
        let line = UInt(#line - 5)
        let found = issues.withLock { $0 }
        #expect(
            found.map(\.description).sorted() == [
                "no call used this stub: GET n as Int", "no request used this stub: GET m",
                "no request used this stub: any method any path",
            ])
        #expect(Set(found.map(\.line)) == [line, line + 1, line + 2])
        #expect(found.allSatisfy { "\($0.file)" == #filePath && !$0.belongsToTest })
    }

    @Test func `an unexpected request is an issue at the stub with its path, and else where the double was made`()
        async throws
    {
        let transport = StubTransport(.post("n") ~> .status(204), onIssue: handler)
        let line = UInt(#line - 1)
        let client = NetworkClient(baseURL: try #require(base), transport: transport)
        await #expect(throws: NetworkError.self) { try await client.send(Endpoint<Void>.get("n")) }
        transport.removeStubs()
        transport.add(.any ~> .status(204))
        await #expect(throws: Never.self) { try await client.send(Endpoint<Void>.get("n")) }
        await #expect(throws: NetworkError.self) { try await client.send(Endpoint<Void>.get("m")) }
        let found = issues.withLock { $0 }
        #expect(found.map(\.line) == [line, line] && found.map(\.belongsToTest) == [false, true])
        #expect(found.last?.description == "unexpected request GET /api/v1/m; remaining stubs: none")
    }

    @Test func `an unexpected call is an issue at the stub with its path, and else where the double was made`() async {
        let network = StubNetworkService(onIssue: handler)
        network.on(Endpoint<Int>.get("n"), return: 7)
        let line = UInt(#line - 1)
        let other = Endpoint<Int>.get("n", query: ["page": 2])
        await #expect(throws: NetworkError.self) { try await network.send(other) }
        network.removeStubs()
        await #expect(throws: NetworkError.self) { try await network.send(other) }
        let found = issues.withLock { $0 }
        #expect(found.map(\.line) == [line, line - 1] && found.map(\.belongsToTest) == [false, true])
    }
}
