import DataAPI
import Foundation
import Hummingbird
import HummingbirdService
import NetworkAsyncHTTPClient
import NetworkCore
import NotesServer
import Storage
import Testing
import TokenRefresh

@Suite(.timeLimit(.minutes(20))) struct HummingbirdServiceTests {
    /// Runs a service whose users ada and grace have connected their accounts.
    private func running(_ test: (NotesServer, _ notes: URL) async throws -> Void) async throws {
        try await NotesServer.run { server in
            let api = NetworkClient(baseURL: server.url, transport: AsyncHTTPClientTransport())
            let handler = RESTTokenRefreshHandler(network: api)
            let sessions = SessionRegistry<String> { _ in
                TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
            }
            for user in ["ada", "grace"] { try await sessions[user].signIn(server.signIn(user)) }
            let service = NotesService(api: api, sessions: sessions) { request in
                guard let user = request.headers[values: .from].first else { throw HTTPError(.unauthorized) }
                return user
            }
            try await serving(service.router()) { try await test(server, $0.appendingPathComponent("notes")) }
        }
    }

    @Test func `each user gets own notes, with one refresh for each`() async throws {
        try await running { server, notes in
            server.expireTokens()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in Array(repeating: ["ada", "grace"], count: 10).flatMap(\.self) {
                    group.addTask {
                        let (status, text) = try await fetch(notes, from: user)
                        #expect(status == 200 && text.contains("Milk for \(user)1"), "\(text)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.refreshes == 2)
        }
    }

    @Test func `a user whose session has ended is asked to connect again, and others are not`() async throws {
        try await running { server, notes in
            server.endSession(of: "grace")
            for (user, status) in [("grace", 403), ("alan", 403), ("ada", 200)] {
                let response = try await fetch(notes, from: user)
                #expect(response.status == status, "\(user): \(response.text)")
            }
        }
    }
}
