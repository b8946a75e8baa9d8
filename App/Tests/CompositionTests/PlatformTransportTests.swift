import Composition
import DataAPI
import Foundation
import NetworkCore
import Testing

@Suite(.timeLimit(.minutes(20))) struct PlatformTransportTests {
    @Test func `a graph that was shut down sends nothing`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let graph = AppGraph(AppConfiguration(baseURL: url, store: .memory))
        try await graph.shutdown()
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.code == .notSignedIn)
        await #expect(throws: NetworkError.self) {
            try await graph.unauthenticatedNetwork.send(Endpoint<Data>.get("articles"))
        }
    }
}
