import Foundation
import NotesServer
import PlainURLSession
import Storage
import Testing
import TokenRefresh

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(20))) struct PlainURLSessionTests {
    private func session(on server: NotesServer) async throws -> BearerSession {
        let engine = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: server.handler)
        try await engine.signIn(server.signIn())
        return BearerSession(engine, for: server.url)
    }

    @Test func `requests whose token is refused cause one refresh, and are sent again`() async throws {
        try await NotesServer.run { server in
            let session = try await session(on: server)
            let request = URLRequest(url: server.url.appendingPathComponent("notes"))
            server.expireTokens()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 { group.addTask { try await session.data(for: request).1.statusCode } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(server.refreshes == 1)
        }
    }

    @Test func `no redirect and no URL of another server gets the token`() async throws {
        try await NotesServer.run { other in
            try await NotesServer.run(elsewhere: other.url) { server in
                let session = try await session(on: server)
                let redirected = URLRequest(url: server.url.appendingPathComponent("elsewhere"))
                #expect(try await session.data(for: redirected).1.statusCode == 307)
                await #expect(throws: URLError.self) { try await session.data(for: URLRequest(url: other.url)) }
                #expect(other.authorizations == [])
            }
        }
    }
}
