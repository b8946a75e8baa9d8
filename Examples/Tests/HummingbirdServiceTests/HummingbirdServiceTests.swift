import AuthInterface
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
    private func service(over server: NotesServer) -> NotesService {
        let api = NetworkClient(baseURL: server.url, transport: AsyncHTTPClientTransport())
        let handler = RESTTokenRefreshHandler(network: api)
        let sessions = SessionRegistry<String> { _ in
            TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
        }
        return NotesService(api: api, sessions: sessions) { request in
            guard let user = request.headers[values: .from].first else { throw HTTPError(.unauthorized) }
            return user
        }
    }

    @Test func `each user gets own notes, with one refresh for each`() async throws {
        try await NotesServer.run { server in
            let service = service(over: server)
            for user in ["ada", "grace"] { try await service.sessions[user].signIn(server.signIn(user)) }
            server.expireTokens()
            try await serving(service.router()) { url in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for user in Array(repeating: ["ada", "grace"], count: 10).flatMap(\.self) {
                        group.addTask {
                            let (status, text) = try await fetch(url.appendingPathComponent("notes"), from: user)
                            #expect(status == 200 && text.contains("Milk for \(user)1"), "\(text)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(server.refreshes == 2)
        }
    }

    @Test func `a user whose session has ended is asked to connect again, and others are not`() async throws {
        try await NotesServer.run { server in
            let service = service(over: server)
            for user in ["ada", "grace"] { try await service.sessions[user].signIn(server.signIn(user)) }
            server.endSession(of: "grace")
            try await serving(service.router()) { url in
                for (user, status) in [("grace", 403), ("alan", 403), ("ada", 200)] {
                    let response = try await fetch(url.appendingPathComponent("notes"), from: user)
                    #expect(response.status == status, "\(user): \(response.text)")
                }
            }
        }
    }
}
