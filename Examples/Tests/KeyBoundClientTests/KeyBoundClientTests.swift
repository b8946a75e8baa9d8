import AuthInterface
import Foundation
import KeyBoundClient
import NetworkAsyncHTTPClient
import NetworkCore
import OAuth2Flows
import Storage
import Testing
import TokenRefresh

@Suite(.timeLimit(.minutes(20))) struct KeyBoundClientTests {
    private struct Note: Decodable, Sendable { let text: String }

    /// A user who signs in at once.
    private struct ImmediateUserAgent: OAuth2UserAgent {
        func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
            let redirectURI = try #require(URL(string: "http://127.0.0.1:9/callback"))
            let url = try await page.url(redirectingTo: redirectURI)
            let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let state = items.first { $0.name == "state" }?.value ?? ""
            return (try #require(URL(string: "\(redirectURI)?code=c&state=\(state)")), redirectURI)
        }
    }

    /// Runs a client that has signed in at a server, over the files of one folder.
    private func running(
        _ test: (ProvingServer, KeyBoundClient, FileTokenStore, StoredSigningKeys) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileTokenStore(folder: folder.appendingPathComponent("session"))
        let keys = StoredSigningKeys {
            FileTokenStore(folder: folder.appendingPathComponent("keys"), account: $0)
        }
        let server = ProvingServer()
        try await server.run { url in
            let client = KeyBoundClient(
                server: OAuth2Server(
                    issuer: url.absoluteString, tokenEndpoint: url.appendingPathComponent("token"),
                    authorizationEndpoint: url.appendingPathComponent("authorize")),
                id: "notes", scope: nil,
                api: NetworkClient(baseURL: url, transport: AsyncHTTPClientTransport()),
                store: store, keys: keys)
            try await client.signIn(with: ImmediateUserAgent())
            try await test(server, client, store, keys)
        }
    }

    private func note(_ client: KeyBoundClient) async throws -> String {
        try await client.network.send(Endpoint<Note>.get("notes").format(.json)).text
    }

    @Test func `sign-in, refresh and requests prove one key, and no proof is used twice`() async throws {
        try await running { server, client, _, _ in
            let first = try await note(client)
            server.expireToken()
            let second = try await note(client)
            #expect(first == "Milk" && second == "Milk")
            let seen = server.seen
            #expect(seen.refreshes == 1 && seen.faults == [] && seen.thumbprints.count == 1)
        }
    }

    @Test func `the sign-out deletes the key, and the next sign-in makes another`() async throws {
        try await running { server, client, store, keys in
            let thumbprint = try #require(try await store.load()?.binding?.thumbprint)
            #expect(try await keys.key(withThumbprint: thumbprint) != nil)
            try await client.session.signOut()
            _ = await client.session.settle()
            #expect(try await keys.key(withThumbprint: thumbprint) == nil)
            try await client.signIn(with: ImmediateUserAgent())
            #expect(try await note(client) == "Milk")
            #expect(server.seen.thumbprints.count == 2 && server.seen.faults == [])
        }
    }
}
