import AsyncHTTPClient
import Foundation
import NIOHTTP1
import NotesServer
import PlainAsyncHTTPClient
import Storage
import Testing
import TokenRefresh

@Suite(.timeLimit(.minutes(20))) struct PlainAsyncHTTPClientTests {
    private func client(of server: NotesServer) async throws -> BearerClient {
        let engine = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: server.handler)
        try await engine.signIn(server.signIn())
        return BearerClient(.shared, engine, for: server.url)
    }

    @Test func `requests whose token is refused cause one refresh, and are sent again`() async throws {
        try await NotesServer.run { server in
            let client = try await client(of: server)
            let request = HTTPClientRequest(url: "\(server.url)/notes")
            server.expireTokens()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 { group.addTask { Int(try await client.execute(request).status.code) } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(server.refreshes == 1)
        }
    }

    @Test func `no redirect and no URL of another server gets the token`() async throws {
        try await NotesServer.run { other in
            try await NotesServer.run(elsewhere: other.url) { server in
                let client = try await client(of: server)
                let redirected = try await client.execute(HTTPClientRequest(url: "\(server.url)/elsewhere"))
                #expect(redirected.status == .unauthorized)
                await #expect(throws: ForeignServer.self) {
                    try await client.execute(HTTPClientRequest(url: "\(other.url)/notes"))
                }
                #expect(Set(other.authorizations) == [nil])
            }
        }
    }
}
