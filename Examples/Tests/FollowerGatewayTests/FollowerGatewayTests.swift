import AuthInterface
import FollowerGateway
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import NotesServer
import Storage
import Testing
import TokenRefresh

@Suite(.timeLimit(.minutes(20))) struct FollowerGatewayTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")

    /// The file, as each process opens it.
    private var file: FileTokenStore { FileTokenStore(folder: folder, access: .readableByGroup) }

    /// Runs an owner of a session, and a gateway that follows it through a file.
    private func running(
        _ test: (NotesServer, _ owner: TokenRefreshCoordinator, _ notes: URL) async throws -> Void
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await NotesServer.run { server in
            let store = FollowedTokenStore(MemoryTokenStore(), publishing: file)
            let owner = TokenRefreshCoordinator(store: store, handler: server.handler)
            let api = NetworkClient(baseURL: server.url, transport: AsyncHTTPClientTransport())
            try await owner.signIn(server.signIn())
            await store.settle(within: .seconds(3_600))
            var policy = FollowerPolicy()
            policy.bundleWait = .seconds(3_600)
            let gateway = FollowerGateway(api: api, session: SessionFollower(file, policy: policy))
            try await serving(gateway.router()) { try await test(server, owner, $0.appendingPathComponent("notes")) }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
                #expect(!text.contains("refresh-"), "the gateway's folder has no refresh token")
            }
        }
    }

    @Test func `a gateway uses the owner's token, waits for its refresh, and makes none`() async throws {
        try await running { server, owner, notes in
            #expect(try await fetch(notes).text.contains("Milk for ada1"))
            server.expireTokens()
            async let waiting = fetch(notes)
            _ = try await owner.refresh()
            let response = try await waiting
            #expect(response.status == 200 && response.text.contains("Milk for ada1"))
            #expect(server.refreshes == 1 && !server.sawReuse)
        }
    }

    @Test func `the owner's sign-out ends the session of the gateway`() async throws {
        try await running { server, owner, notes in
            #expect(try await fetch(notes).status == 200)
            try await owner.signOut()
            while try await fetch(notes).status != 403 { try Task.checkCancellation() }
            #expect(server.refreshes == 0)
        }
    }
}
