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

    private let server = NIOLockedValueBox(Server())
    private let store = MemoryTokenStore()
    private let keys = StoredSigningKeys { _ in MemoryTokenStore() }

    /// A client that has signed in.
    private func signedIn() async throws -> (client: KeyBoundClient, transport: StubTransport) {
        let response = StubResponse { [server] request in server.withLockedValue { $0.response(to: request) } }
        let transport = StubTransport(Stub(.any, response).repeated())
        let url = try #require(URL(string: "https://notes.example.com"))
        let client = KeyBoundClient(
            server: OAuth2Server(
                issuer: url.absoluteString, tokenEndpoint: url.appendingPathComponent("token"),
                authorizationEndpoint: url.appendingPathComponent("authorize")),
            id: "notes", scope: nil, api: NetworkClient(baseURL: url, transport: transport), store: store, keys: keys)
        try await client.signIn(with: ImmediateUserAgent())
        return (client, transport)
    }

    private func note(_ client: KeyBoundClient) async throws -> String {
        try await client.network.send(Endpoint<Note>.get("notes").format(.json)).text
    }

    /// The keys that the proofs of requests name. The tests of `OAuth2Flows` check the signatures.
    private func provenKeys(_ requests: [SentRequest]) throws -> Set<String> {
        struct Header: Decodable { let jwk: [String: String] }
        let keys = try requests.map { request in
            let part = (request.headers["DPoP"] ?? "").prefix { $0 != "." }
            let plain = part.replacing("-", with: "+").replacing("_", with: "/")
            let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
            let header = try #require(Data(base64Encoded: plain + padding))
            return try JSONDecoder().decode(Header.self, from: header).jwk["x"] ?? "none"
        }
        return Set(keys)
    }

    @Test func `sign-in, refresh and requests prove one key, and no proof is used twice`() async throws {
        let (client, transport) = try await signedIn()
        let first = try await note(client)
        server.withLockedValue { $0.expired = $0.generation }
        let second = try await note(client)
        #expect(first == "Milk" && second == "Milk")
        #expect(server.withLockedValue { $0.generation } == 1, "it has refreshed once")
        #expect(try provenKeys(transport.requests).count == 1)
        #expect(Set(transport.requests.map { $0.headers["DPoP"] }).count == transport.requests.count)
    }

    @Test func `the sign-out deletes the key, and the next sign-in makes another`() async throws {
        let (client, transport) = try await signedIn()
        let thumbprint = try #require(await store.load()?.binding?.thumbprint)
        #expect(try await keys.key(withThumbprint: thumbprint) != nil)
        try await client.session.signOut()
        _ = await client.session.settle()
        #expect(try await keys.key(withThumbprint: thumbprint) == nil)
        try await client.signIn(with: ImmediateUserAgent())
        #expect(try await note(client) == "Milk")
        #expect(try provenKeys(transport.requests).count == 2)
    }
}

/// A server that issues tokens and refuses one that has expired.
private struct Server {
    var generation = 0
    var expired = -1

    mutating func response(to request: SentRequest) -> HTTPTransportResponse {
        guard request.path == "notes" else {
            let form = String(decoding: request.body ?? Data(), as: UTF8.self)
            if form.contains("refresh_token=refresh-\(generation)") { generation += 1 }
            let (access, refresh) = ("access-\(generation)", "refresh-\(generation)")
            return response(#"{"access_token":"\#(access)","token_type":"DPoP","refresh_token":"\#(refresh)"}"#)
        }
        guard request.headers["Authorization"] == "DPoP access-\(generation)", generation != expired else {
            let challenge = #"DPoP error="invalid_token", algs="ES256""#
            return response("", status: 401, headers: ["WWW-Authenticate": challenge])
        }
        return response(#"{"text":"Milk"}"#)
    }

    private func response(
        _ text: String, status: Int = 200, headers: HTTPHeaders = ["Content-Type": "application/json"]
    ) -> HTTPTransportResponse {
        HTTPTransportResponse(head: HTTPResponseHead(status: status, headers: headers), body: HTTPBody(Data(text.utf8)))
    }
}
