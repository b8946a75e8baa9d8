import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCaching

/// G17 and G23, RFC 9111 §4.1: what one caller's credential has fetched is served to no other, and is readable in no
/// file.
@Suite("A cache and the credentials of a request", .timeLimit(.minutes(10)))
struct CachedCredentialTests {
    /// Which fields an endpoint sets for a tenant.
    enum Credential: CaseIterable {
        case authorization, basic, cookie, cookieBesideToken, key, twoFields, notASecretByName

        func fields(of tenant: String) throws -> HTTPHeaders {
            var headers = HTTPHeaders()
            switch self {
            case .authorization: try headers.append("Authorization", "Bearer tenant-\(tenant)-0123456789")
            case .basic: try headers.append("Authorization", "Basic \(Data("\(tenant):x".utf8).base64EncodedString())")
            case .cookie: try headers.append("Cookie", "tenant=\(tenant)")
            // The session's token in the field must not hide what is beside it.
            case .cookieBesideToken: try headers.append("Cookie", "t=access-0; tenant=\(tenant)")
            case .key: try headers.append("X-API-Key", tenant)
            case .twoFields:
                try headers.append("Authorization", "Bearer same")
                try headers.append("Authorization", tenant)
            case .notASecretByName: try headers.append("X-Tenant", tenant)
            }
            return headers
        }
    }

    static let varies = [
        "Authorization, Cookie, X-API-Key, X-Tenant", "authorization,cookie,x-api-key,x-tenant", "*", nil,
    ]

    /// A server whose responses are those of a tenant, by all fields of the request.
    static func transport(_ vary: String?) -> StubTransport {
        StubTransport { request, _ in
            let tenant = request.headers.filter { $0.name != "X-Access" && $0.name != "X-Refresh" }
                .map { "\($0.name)=\($0.value)" }.joined(separator: "\n")
            var headers: HTTPHeaders = ["Cache-Control": "max-age=3600", "ETag": "\"1\""]
            headers["Vary"] = vary
            return .scripted(200, headers, body: Data(tenant.utf8))
        }
    }

    static func client(_ exchanges: StubTransport, _ cache: ResponseCache, _ provider: ScriptedTokenProvider)
        -> AuthenticatedNetworkClient
    {
        NetworkClient(baseURL: baseURL, transport: CachingTransport(exchanges, cache: cache)).authenticated(
            by: provider,
            policy: AuthenticationPolicy(placement: .fields(accessToken: "X-Access", refreshToken: "X-Refresh")))
    }

    static func endpoint(_ credential: Credential, _ tenant: String) throws -> Endpoint<Data> {
        var endpoint = Endpoint<Data>.get("x")
        for field in try credential.fields(of: tenant) { try endpoint.settings.headers.append(field.name, field.value) }
        return endpoint
    }

    @Test(arguments: Credential.allCases, varies)
    func `one tenant's response is never served to another within a session, also where Vary names no credential`(
        credential: Credential, vary: String?
    ) async throws {
        // A field that is no secret, and that the server does not name, selects nothing.
        let isShared = vary == nil && credential == .notASecretByName
        let network = Self.client(Self.transport(vary), ResponseCache(), ScriptedTokenProvider())
        let (one, other) = (try Self.endpoint(credential, "aaaa"), try Self.endpoint(credential, "bbbb"))
        let first = try await network.send(one)
        let second = try await network.send(other)
        #expect((first == second) == isShared, "\(credential), Vary: \(vary ?? "none")")
        #expect(try await network.send(one) == first)
        let without = try await network.send(Endpoint<Data>.get("x"))
        #expect((without == first) == isShared, "a request without the field is another one")
    }

    @Test(arguments: Credential.allCases)
    func `the same tenant is served, also with the session's next token`(credential: Credential) async throws {
        let exchanges = Self.transport("Authorization, Cookie, X-API-Key, X-Tenant, X-Access, X-Refresh")
        let provider = ScriptedTokenProvider()
        let network = Self.client(exchanges, ResponseCache(), provider)
        _ = try await network.send(try Self.endpoint(credential, "aaaa"))
        provider.set(.success(SessionToken.first.next))
        var endpoint = try Self.endpoint(credential, "aaaa")
        if credential == .cookieBesideToken { endpoint.settings.headers["Cookie"] = "t=access-1; tenant=aaaa" }
        _ = try await network.send(endpoint)
        #expect(exchanges.requests.count == 1)
    }

    /// As `DPoPProver` does.
    private final class Proof: RequestProof {
        private let count = Locked(0)

        func fields(method: String, url: URL, token: SessionToken) async throws -> [String: String] {
            count.withLock { $0 += 1 }
            return ["DPoP": "proof-\(count.withLock { $0 })"]
        }

        func received(nonce: String?, serverDate: Date?, from url: URL, for token: SessionToken) {}
    }

    @Test func `G34: the proof of a token says no more than the token`() async throws {
        let provider = ScriptedTokenProvider()
        provider.set(
            .success(
                SessionToken(
                    value: "access-0", session: SessionToken.first.session, generation: 0,
                    binding: TokenBinding(thumbprint: "fixture-key"))))
        let (cache, exchanges) = (ResponseCache(), Self.transport(nil))
        let network = NetworkClient(baseURL: baseURL, transport: CachingTransport(exchanges, cache: cache))
            .authenticated(by: provider, policy: AuthenticationPolicy(placement: .dpop(Proof())))
        for _ in 0..<2 { _ = try await network.send(Endpoint<Data>.get("x")) }
        #expect(exchanges.requests.count == 1 && exchanges.requests.first?.headers["DPoP"] == "proof-1")
    }

    @Test func `G10: a refusal in a response that is kept does not answer for the next token`() async throws {
        let exchanges = StubTransport { _, number in
            .scripted(200, .fresh, body: Data((number == 1 ? #"{"error":{"code":"TOKEN_EXPIRED"}}"# : "7").utf8))
        }
        var policy = AuthenticationPolicy()
        policy.refusals = .codes()
        let network = NetworkClient(baseURL: baseURL, transport: CachingTransport(exchanges))
            .authenticated(by: ScriptedTokenProvider(), policy: policy)
        for _ in 0..<2 { #expect(try await network.send(Endpoint<Int>.get("x")) == 7) }
        #expect(exchanges.requests.count == 2)
    }

    @Test func `no part of a request is readable in a cache folder, and a later process is served from it`()
        async throws
    {
        let place = TemporaryFolder()
        let folder = place.fresh()
        let headers: HTTPHeaders = [
            "Cache-Control": "max-age=3600", "Vary": "Cookie, X-Api-Key, Authorization, X-Access, X-Refresh",
        ]
        let exchanges = StubTransport { _, _ in .scripted(200, headers) }
        func get(_ cookie: String) async throws -> Data {
            let cache = try ResponseCache(folder: folder)
            let endpoint = Endpoint<Data>.get(
                "files/\(secret: "canary-of-a-path")", query: ["token": "canary-of-a-query"]
            )
            .header("Cookie", cookie).header("X-Api-Key", "canary-of-a-key")
            return try await Self.client(exchanges, cache, ScriptedTokenProvider()).send(endpoint)
        }
        _ = try await get("id=canary-of-a-cookie")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count == 3)
        for file in files {
            let content = try Data(contentsOf: file)
            for canary in ["canary", "access-0", "refresh-0", "files/"] {
                #expect(content.range(of: Data(canary.utf8)) == nil, "\(canary) is in \(file.lastPathComponent)")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        _ = try await get("id=canary-of-a-cookie")
        #expect(exchanges.requests.count == 1)
        _ = try await get("id=another-cookie")
        #expect(exchanges.requests.count == 2)
        // Without its key a folder holds nothing that could be found.
        try FileManager.default.removeItem(at: folder.appendingPathComponent("key"))
        #expect(try ResponseCache(folder: folder).count == 0)
        _ = try await get("id=canary-of-a-cookie")
        #expect(exchanges.requests.count == 3)
    }

    @Test func `a digest with a key is the one of the standard (RFC 4231 §4.3)`() {
        let hash = KeyedHash(key: Data("Jefe".utf8))
        #expect(hash("what do ya want for nothing?") == "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=")
        #expect(KeyedHash()("a") != KeyedHash()("a"))
    }
}
