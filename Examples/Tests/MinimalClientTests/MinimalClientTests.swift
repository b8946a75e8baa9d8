import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import NotesServer
import Storage
import Testing

@testable import MinimalClient

@Suite(.timeLimit(.minutes(20))) struct MinimalClientTests {
    @Test func `a user who has signed in stays so, across launches and expired tokens`() async throws {
        try await NotesServer.run { server in
            let store = MemoryTokenStore()
            let client = NotesClient(url: server.url, transport: AsyncHTTPClientTransport(), store: store)
            try await client.signIn("ada", password: "of the user")
            #expect(try await client.notes().map(\.text) == ["Milk for ada1"])

            let next = NotesClient(url: server.url, transport: AsyncHTTPClientTransport(), store: store)
            server.expireTokens()
            async let first = next.notes()
            async let second = next.notes()
            #expect(try await (first + second).map(\.text) == ["Milk for ada1", "Milk for ada1"])
            #expect(server.refreshes == 1)
        }
    }
}
