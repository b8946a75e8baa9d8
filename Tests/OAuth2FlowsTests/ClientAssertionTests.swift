#if Crypto
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Crypto
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@testable import OAuth2Flows

/// Clients with a private key (RFC 7523), over real sockets. The server checks each assertion.
@Suite(.timeLimit(.minutes(10))) struct ClientAssertionTests {
    /// A key in memory, which can be locked.
    private struct ClientKey: SigningKey {
        private let key = P256.Signing.PrivateKey()
        var onSign: @Sendable () throws -> Void = {}

        var algorithm: SigningAlgorithm { .es256 }

        var publicKey: JSONWebKey {
            let point = key.publicKey.rawRepresentation
            return .p256(x: point.prefix(32), y: point.suffix(32))
        }

        func sign(_ message: Data) async throws -> Data {
            try onSign()
            return try key.signature(for: message).rawRepresentation
        }

        func isValid(_ assertion: JSONWebSignature) throws -> Bool {
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: assertion.signature)
            return key.publicKey.isValidSignature(signature, for: assertion.signedContent)
        }
    }

    private struct Claims: Decodable {
        let iss, sub, aud, jti: String
        let iat, exp: Int
    }

    /// A date years ago: 784,111,777 seconds after 1970.
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let locked = TokenStoreError(.unavailable, reason: "the device is locked")

    private let clock = ManualTimeSource()
    private let session = StubSession(.signedOut(.never))

    private func client(_ key: ClientKey, _ provider: LoopbackProvider, lifetime: Duration? = nil) -> OAuth2Client {
        .privateKey(
            id: "backend", key: key, issuer: provider.issuer, keyID: "key-1",
            lifetime: lifetime ?? .seconds(60), clock: clock)
    }

    /// A refresh that may start.
    private func refresh(
        within time: Duration = .seconds(1_000_000)
    ) -> (request: TokenRefreshRequest, permit: StartPermit) {
        let permit = StartPermit(until: clock.uptime + time, on: clock)
        #expect(permit.handOver())
        return (TokenRefreshRequest(refreshToken: "fixture-refresh", startPermit: permit), permit)
    }

    private func claims(
        of call: LoopbackServer.Request, _ key: ClientKey, _ provider: LoopbackProvider
    ) throws -> Claims {
        #expect(call[form: "client_assertion_type"] == ["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"])
        #expect(
            call[form: "client_id"] == ["backend"] && call[form: "client_secret"].isEmpty
                && call["Authorization"] == nil)
        let assertion = try JSONWebSignature(try #require(call[form: "client_assertion"].first))
        #expect(try key.isValid(assertion) && assertion.keyID == "key-1" && assertion.algorithm == .es256)
        let claims = try JSONDecoder().decode(Claims.self, from: assertion.payload)
        #expect(claims.iss == "backend" && claims.sub == "backend" && claims.aud == provider.issuer)
        return claims
    }

    /// Makes a call, or more, to every endpoint.
    private func callAll(of provider: LoopbackProvider, as client: () -> OAuth2Client) async throws {
        try await provider.codeSignIn(as: client()) { $0.requiresPushedAuthorizationRequests = true }
            .start(session, with: PromptUserAgent())
        try await provider.deviceSignIn(as: client()).start(session) { _ in }
        _ = try await provider.handler(client()).refresh(.fixture)
        try await provider.handler(client(), revocationAffectsSessionOnly: false)
            .revoke(.signedIn)
    }

    @Test func `each call has an assertion of its own for the issuer, at every endpoint`() async throws {
        let (provider, key) = (try LoopbackProvider(), ClientKey())
        let client = client(key, provider)
        try await callAll(of: provider) { client }
        // A repetition of the refresh, with the same key of the intent.
        _ = try await provider.handler(client).refresh(.fixture)
        let identifiers = try provider.calls.map { try claims(of: $0, key, provider).jti }
        #expect(identifiers.count == 7 && Set(identifiers).count == 7)
    }

    @Test func `an assertion is valid for a minute, or as long as is said`() async throws {
        for (lifetime, expected) in [(nil, 60), (Duration.seconds(10), 10)] {
            let (provider, key) = (try LoopbackProvider(), ClientKey())
            _ = try await provider.handler(client(key, provider, lifetime: lifetime)).refresh(.fixture)
            let claims = try claims(of: try #require(provider.calls.first), key, provider)
            #expect(claims.iat == 1_800_000_000 && claims.exp - claims.iat == expected)
        }
    }

    @Test(arguments: [200, 401])
    func `G19: the next assertion is dated by the server's clock, after a refusal too`(_ status: Int) async throws {
        let provider = try LoopbackProvider { _ in
            let body = status == 200 ? LoopbackProvider.tokens : #"{"error":"invalid_client"}"#
            return .json(body, status: status, headers: ["Date": Self.date])
        }
        let key = ClientKey()
        let handler = provider.handler(client(key, provider))
        _ = try? await handler.refresh(.fixture)
        clock.advance(by: .seconds(100))
        clock.setDate(Date(timeIntervalSince1970: 0))
        _ = try? await handler.refresh(.fixture)
        let dates = try provider.calls.map { try claims(of: $0, key, provider).iat }
        let own = [1_800_000_000, 784_111_777 + 100]
        #expect(dates == (status == 200 ? own : [own[0], 784_111_777, own[1], 784_111_777]))
    }

    /// Each call has a client of its own, as in short processes: none knows the server's clock.
    @Test func `KE5: a date that is refused is replaced by that of the refusal, at every endpoint`() async throws {
        let provider = try LoopbackProvider { call in
            let payload = call[form: "client_assertion"].first.flatMap { try? JSONWebSignature($0).payload }
            let claims = payload.flatMap { try? JSONDecoder().decode(Claims.self, from: $0) }
            guard claims?.iat == 784_111_777 else {
                return .json(#"{"error":"invalid_client"}"#, status: 401, headers: ["Date": Self.date])
            }
            guard call.path == "/token" else { return nil }
            return .json(LoopbackProvider.tokens.replacingOccurrences(of: "fixture-refresh", with: "fixture-2"))
        }
        let key = ClientKey()
        try await callAll(of: provider) { client(key, provider) }
        let paths = "/par /par /token /device /device /token /token /token /revoke /revoke".split(separator: " ")
        #expect(provider.calls.map(\.path) == paths.map(String.init) && session.signIns.count == 2)

        // The skew that is stored with a session that is bound to a key.
        let keys = FailingKeys()
        let bound = provider.handler(client(key, provider), prover: DPoPProver(keys: keys, clock: clock))
        var request = TokenRefreshRequest.fixture
        let nonce = ProofNonce(value: nil, date: clock.date, clockSkew: 784_111_777 - 1_800_000_000)
        request.binding = TokenBinding(
            thumbprint: try await keys.makeKeptKey(), nonces: ["as \(provider.issuer)": nonce])
        _ = try await bound.refresh(request)
        #expect(provider.calls.count == paths.count + 1)
    }

    /// The date of the refusal, the time that it takes, and the calls: a second refusal is final, a date that is right
    /// is not the reason, and a right to start that has ended is not used.
    @Test(arguments: [(date, 0, 2), ("Fri, 15 Jan 2027 08:00:00 GMT", 0, 1), (date, 60, 1)])
    func `a refused assertion is repeated once, in time`(date: String, seconds: Int, count: Int) async throws {
        let provider = try LoopbackProvider { [clock] _ in
            clock.advance(by: .seconds(seconds))
            return .json(#"{"error":"invalid_client"}"#, status: 401, headers: ["Date": date])
        }
        let (request, _) = refresh(within: .seconds(30))
        let error = await provider.handler(client(ClientKey(), provider)).refreshError(request)
        #expect(error?.code == .unavailable && error?.status != nil && provider.calls.count == count)
        #expect(error?.challenge == (count == 2 ? "invalid_client" : nil))
    }

    @Test func `discovery shows the server's clock, which is no part of the server`() async throws {
        let body = #"{"issuer":"https://id.example.com","token_endpoint":"https://id.example.com/token"}"#
        let transport = StubTransport(.any ~> .status(200, headers: ["Date": Self.date], body: Data(body.utf8)))
        let issuer = try #require(URL(string: "https://id.example.com"))
        let server = try await OAuth2Server.discover(issuer: issuer, network: NetworkClient(transport))
        #expect(server == OAuth2Server(issuer: "https://id.example.com", tokenEndpoint: server.tokenEndpoint))
        let client = OAuth2Client.privateKey(id: "backend", key: ClientKey(), issuer: server.issuer, clock: clock)
        _ = OAuth2CodeSignIn(server: server, client: client, network: NetworkClient(transport))
        let shown = try #require(client.signedTime?.date.timeIntervalSince1970)
        #expect(shown >= 784_111_777 && shown < 1_000_000_000)
    }

    @Test func `G28: with a key that cannot be used no call is made, and a sign-in fails`() async throws {
        let provider = try LoopbackProvider()
        let client = client(ClientKey { throw Self.locked }, provider)
        let (request, permit) = refresh()
        let error = await provider.handler(client).refreshError(request)
        #expect(error?.code == .unavailable && error?.status == nil && error?.reason?.contains("key") == true)
        #expect(permit.withdraw() == .notMade)
        let failure = await signInError {
            try await provider.codeSignIn(as: client).start(session, with: PromptUserAgent())
        }
        #expect(failure?.code == .unavailable && failure?.cause is TokenStoreError)
        #expect(provider.calls.isEmpty && session.signIns.isEmpty)
    }

    @Test func `G28: a call that was withdrawn while the key signed is not made`() async throws {
        // Its transport knows no permits.
        let transport = StubTransport()
        let (request, permit) = refresh()
        let client = OAuth2Client.privateKey(
            id: "backend", key: ClientKey { _ = permit.withdraw() }, issuer: "https://id.example.com")
        let error = await OAuth2TokenRefreshHandler(transport, as: client).refreshError(request)
        #expect(error?.code == .unavailable && error?.status == nil && transport.requests.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a refresh with one key for client and session is not made`(_ isSame: Bool) async throws {
        let provider = try LoopbackProvider { _ in
            .json(LoopbackProvider.tokens.replacingOccurrences(of: "Bearer", with: "DPoP"))
        }
        let (key, keys) = (ClientKey(), FailingKeys())
        let handler = provider.handler(client(key, provider), prover: DPoPProver(keys: keys, clock: clock))
        var (request, permit) = refresh()
        let thumbprint = isSame ? key.publicKey.thumbprint : try await keys.makeKeptKey()
        request.binding = TokenBinding(thumbprint: thumbprint)
        guard isSame else {
            _ = try await handler.refresh(request)
            #expect(provider.calls.contains { $0[form: "refresh_token"] == ["fixture-refresh"] })
            return
        }
        let error = await handler.refreshError(request)
        #expect(error?.code == .unavailable && error?.reason?.contains("another key") == true)
        #expect(provider.calls.isEmpty)
        #expect(permit.withdraw() == .notMade)
    }

    @Test func `a key that cannot be used for a while ends no sign-in of a device`() async throws {
        let provider = try LoopbackProvider()
        let count = Locked(0)
        let key = ClientKey {
            count.withLock { $0 += 1 }
            if count.withLock({ $0 }) == 2 { throw Self.locked }
        }
        try await provider.deviceSignIn(as: client(key, provider)).start(session) { _ in }
        #expect(provider.calls.map(\.path) == ["/device", "/token"] && session.signIns.count == 1)
    }

    @Test func `G17: no error and no description shows an assertion`() async throws {
        let shown = Locked<[String]>([])
        let provider = try LoopbackProvider { call in
            let assertion = call[form: "client_assertion"].first ?? ""
            shown.withLock { $0.append(assertion) }
            return .json(#"{"error":"\#(assertion)","error_description":"not valid: \#(assertion)"}"#, status: 401)
        }
        let client = client(ClientKey(), provider)
        let error = await provider.handler(client).refreshError()
        var text = "\(client) \(String(reflecting: client)) \(String(describing: error)) \(error?.serverCode ?? "")"
        dump(error, to: &text)
        dump(client, to: &text)
        let assertions = shown.withLock { $0 }
        #expect(assertions.count == 1 && assertions.allSatisfy { !$0.isEmpty && !text.contains($0) })
    }

    @Test func `a key is read from PEM, and shows its public half only`() async throws {
        let made = P256.Signing.PrivateKey()
        // As `openssl ecparam -genkey` writes it.
        let curve = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        #expect(try OAuth2ClientKey(pem: curve + made.pemRepresentation).publicKey.thumbprint.count == 43)
        let key = try OAuth2ClientKey(pem: made.pemRepresentation)
        let message = Data("fixture".utf8)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: await key.sign(message))
        #expect(made.publicKey.isValidSignature(signature, for: message))
        let point = made.publicKey.rawRepresentation
        #expect(key.publicKey == .p256(x: point.prefix(32), y: point.suffix(32)))
        var text = "\(key)"
        dump(key, to: &text)
        #expect(!text.contains(made.rawRepresentation.base64URL) && !text.contains("PRIVATE"))
    }

    @Test func `another key, and other text, is refused with what to do`() async throws {
        for text in [
            P384.Signing.PrivateKey().pemRepresentation, P256.Signing.PrivateKey().publicKey.pemRepresentation, "",
        ] {
            let error = await signInError { try OAuth2ClientKey(pem: text) }
            #expect(error?.code == .unsupported && error?.reason.contains("P-256") == true)
        }
    }

    @Test func `clients with the same key are equal`() throws {
        let provider = try LoopbackProvider()
        let key = ClientKey()
        #expect(Set([client(key, provider), client(key, provider)]).count == 1)
        #expect(client(key, provider) != client(ClientKey(), provider))
        #expect(client(key, provider) != client(key, provider, lifetime: .seconds(1)))
    }
}
#endif
