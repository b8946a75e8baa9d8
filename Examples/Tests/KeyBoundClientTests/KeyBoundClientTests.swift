import AuthInterface
import Foundation
import KeyBoundClient
import NIOConcurrencyHelpers
import NetworkCore
import NetworkTesting
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
        _ test: (NIOLockedValueBox<ProofRecord>, KeyBoundClient, FileTokenStore, StoredSigningKeys) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileTokenStore(folder: folder.appendingPathComponent("session"))
        let keys = StoredSigningKeys {
            FileTokenStore(folder: folder.appendingPathComponent("keys"), account: $0)
        }
        let record = NIOLockedValueBox(ProofRecord())
        let response = StubResponse { request in try record.withLockedValue { try $0.response(to: request) } }
        let url = try #require(URL(string: "https://notes.example.com"))
        let client = KeyBoundClient(
            server: OAuth2Server(
                issuer: url.absoluteString, tokenEndpoint: url.appendingPathComponent("token"),
                authorizationEndpoint: url.appendingPathComponent("authorize")),
            id: "notes", scope: nil,
            api: NetworkClient(baseURL: url, transport: StubTransport(Stub(.any, response).repeated())),
            store: store, keys: keys)
        try await client.signIn(with: ImmediateUserAgent())
        try await test(record, client, store, keys)
    }

    private func note(_ client: KeyBoundClient) async throws -> String {
        try await client.network.send(Endpoint<Note>.get("notes").format(.json)).text
    }

    @Test func `sign-in, refresh and requests prove one key, and no proof is used twice`() async throws {
        try await running { server, client, _, _ in
            let first = try await note(client)
            server.withLockedValue { $0.expired = $0.generation }
            let second = try await note(client)
            #expect(first == "Milk" && second == "Milk")
            let seen = server.withLockedValue { $0 }
            #expect(seen.refreshes == 1 && seen.keys.count == 1)
            #expect(seen.identifiers.count == seen.proofs)
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
            #expect(server.withLockedValue { $0.keys.count } == 2)
        }
    }
}

/// A server that issues tokens and refuses one that has expired. It records the proofs of the requests, without a check
/// of their signatures, which the tests of `OAuth2Flows` make.
private struct ProofRecord {
    private struct Proof: Decodable {
        struct Key: Decodable { let x: String }

        let jwk: Key?, jti: String?
    }

    var keys: Set<String> = []
    var identifiers: Set<String> = []
    var proofs = 0
    var refreshes = 0
    var generation = 0
    var expired = -1

    mutating func response(to request: SentRequest) throws -> HTTPTransportResponse {
        let parts = (request.headers["DPoP"] ?? "").split(separator: ".")
        proofs += 1
        keys.insert(try #require(try proof(parts.first).jwk).x)
        identifiers.insert(try #require(try proof(parts.dropFirst().first).jti))
        guard request.path == "notes" else {
            if String(decoding: request.body ?? Data(), as: UTF8.self).contains("refresh_token=refresh-\(generation)") {
                generation += 1
                refreshes += 1
            }
            return response(
                #"{"access_token":"access-\#(generation)","token_type":"DPoP","#
                    + #""refresh_token":"refresh-\#(generation)"}"#)
        }
        guard request.headers["Authorization"] == "DPoP access-\(generation)", generation != expired else {
            let challenge = #"DPoP error="invalid_token", algs="ES256""#
            return HTTPTransportResponse(
                head: HTTPResponseHead(status: 401, headers: ["WWW-Authenticate": challenge]))
        }
        return response(#"{"text":"Milk"}"#)
    }

    private func response(_ text: String) -> HTTPTransportResponse {
        let head = HTTPResponseHead(status: 200, headers: ["Content-Type": "application/json"])
        return HTTPTransportResponse(head: head, body: HTTPBody(Data(text.utf8)))
    }

    private func proof(_ part: Substring?) throws -> Proof {
        let plain = (part ?? "").replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        return try JSONDecoder().decode(Proof.self, from: #require(Data(base64Encoded: plain + padding)))
    }
}
