#if Crypto
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@testable import OAuth2Flows

/// Id tokens in the responses to refreshes (OpenID Connect Core §12.2), over real sockets.
@Suite(.timeLimit(.minutes(10))) struct RefreshedIDTokenTests {
    private let clock = ManualTimeSource()
    private let key = ServerKey.es256("first")
    private let server: LoopbackProvider
    private let handler: OAuth2TokenRefreshHandler

    init() throws {
        server = try LoopbackProvider(clock.date, [key])
        handler = Self.handler(server, clock)
    }

    private static func handler(
        _ server: LoopbackProvider, _ clock: ManualTimeSource, _ otherIssuers: Set<String> = []
    ) -> OAuth2TokenRefreshHandler {
        var handler = server.handler()
        handler.idTokens = server.validator(by: clock) { $0.otherIssuers = otherIssuers }
        return handler
    }

    /// What a refresh brings whose id token has some claims changed.
    private func refresh(_ changes: Members = [:]) async throws -> TokenRefreshResult {
        server.issue(try key.sign(server.claims.merging(changes) { $1 }))
        return try await handler.refresh(.fixture)
    }

    private func subject(_ id: String = "fixture-user") -> TokenSubject? {
        TokenSubject(issuer: server.issuer, id: id)
    }

    @Test func `G31: an id token that was checked says whose tokens came`() async throws {
        // A refresh sends no nonce, so that none is compared.
        let own = try await refresh()
        #expect(own.subject == subject() && own.refreshToken == "fixture-refresh")
        #expect(own.claimedSubject == nil && own.idTokenProblem == nil)
        #expect(try await refresh(["sub": #""mallory""#]).subject == subject("mallory"))
        for number in ["4711", "0", "12345678901234567890"] {
            #expect(try await refresh(["sub": number]).subject == subject(number))
        }
    }

    /// KE3: it still names a user to compare with.
    @Test func `G31: an id token that fails a check claims a user, and the tokens are kept`() async throws {
        let changes: [Members] = [
            ["aud": #""other""#], ["azp": #""other""#], ["exp": "1"], ["iat": "1900000000"],
            ["iss": #""https://elsewhere.example.com""#],
        ]
        for user in ["fixture-user", "mallory"] {
            let claims = server.claims.merging(["sub": "\"\(user)\""]) { $1 }
            var texts = try changes.map { change in try key.sign(claims.merging(change) { $1 }) }
            texts.append(try ServerKey.es256("first").sign(claims))
            let payload = try key.sign(claims).split(separator: ".")[1]
            for algorithm in ["none", "RS512", "HS256"] {
                texts.append("\(["alg": #""\#(algorithm)""#].json.base64URL).\(payload).AAAA")
            }
            for text in texts {
                server.issue(text)
                let tokens = try await handler.refresh(.fixture)
                #expect(tokens.subject == nil && tokens.refreshToken == "fixture-refresh", "\(text)")
                #expect(tokens.claimedSubject?.id == user && tokens.idTokenProblem != nil, "\(text)")
                #expect(tokens.claimedSubject?.issuer == server.issuer || text == texts[4])
            }
        }
    }

    /// As Google does, with and without the scheme.
    @Test(arguments: [true, false])
    func `G31: another spelling of the issuer is another server's, unless it is listed`(_ isListed: Bool) async throws {
        let handler = Self.handler(server, clock, isListed ? ["id.example.com"] : [])
        let claims = server.claims.merging(["iss": #""id.example.com""#]) { $1 }
        let known = isListed ? subject() : nil
        server.issue(try key.sign(claims))
        let tokens = try await handler.refresh(.fixture)
        #expect(tokens.subject == known && (tokens.idTokenProblem == nil) == isListed)
        server.issue(try ServerKey.es256("first").sign(claims))
        let other = TokenSubject(issuer: "id.example.com", id: "fixture-user")
        #expect(try await handler.refresh(.fixture).claimedSubject == known ?? other)
    }

    @Test func `G31: an id token that is encrypted or cannot be read names no one`() async throws {
        for text in ["a.b.c", "fixture", "a.b.c.d.e", "e30.e30.AAAA"] {
            server.issue(text)
            let tokens = try await handler.refresh(.fixture)
            #expect(tokens.subject == nil && tokens.claimedSubject == nil && tokens.idTokenProblem != nil, "\(text)")
        }
        server.issue(nil)
        let none = try await handler.refresh(.fixture)
        #expect(none.subject == nil && none.idTokenProblem == nil)
    }

    /// KE2, rule 12: the server spends the refresh token only once the keys are here, or have not come in time.
    @Test func `G11: keys that do not arrive hold back the call, and never its tokens`() async throws {
        let (arrived, leave) = (Turn<Void>(), DispatchSemaphore(value: 0))
        let server = try LoopbackProvider(clock.date, [key]) { call in
            guard call.path == "/keys" else { return nil }
            arrived.end(.success(()))
            leave.wait()
            return nil
        }
        server.issue(try key.sign(server.claims))
        let handler = Self.handler(server, clock)
        let permit = StartPermit(until: clock.uptime + .seconds(30), on: clock)
        #expect(permit.handOver())
        var request = TokenRefreshRequest.fixture
        request.startPermit = permit
        let refresh = Task { [request] in try await handler.refresh(request) }
        try await arrived.valueUnlessCancelled()
        #expect(server.calls(at: "/token").isEmpty, "nothing is spent yet")
        try await clock.advance(toTimerIn: .seconds(5))
        let tokens = try await refresh.value
        #expect(tokens.claimedSubject == TokenSubject(issuer: server.issuer, id: "fixture-user"))
        #expect(tokens.refreshToken == "fixture-refresh")
        leave.signal()
    }

    @Test(arguments: [("https", true), ("https", false), ("http", true)])
    func `TLS stands for a signature only where it is asked for`(_ scheme: String, _ isTrusted: Bool) async throws {
        let issuer = "\(scheme)://127.0.0.1"
        let endpoint = try #require(URL(string: "\(issuer)/token"))
        let claims: Members = [
            "iss": #""\#(issuer)""#, "sub": #""fixture-user""#, "aud": #""fixture-client""#, "iat": "1",
            "exp": "9999999999",
        ]
        for (claims, isSound) in [(claims, true), (claims.merging(["aud": #""other""#]) { $1 }, false)] {
            let token = [["alg": #""HS256""#], claims].map(\.json.base64URL).joined(separator: ".") + ".AAAA"
            let body = #"{"access_token":"fixture-access","refresh_token":"fixture-2","id_token":"\#(token)"}"#
            let network = NetworkClient(StubTransport((.any ~> .text(body)).repeated()))
            var idTokens = IDTokenValidator(
                server: OAuth2Server(issuer: issuer, tokenEndpoint: endpoint), client: .fixture, network: network)
            (idTokens.clock, idTokens.trustsTokenEndpoint) = (clock, isTrusted)
            var handler = OAuth2TokenRefreshHandler(tokenEndpoint: endpoint, client: .fixture, network: network)
            handler.idTokens = idTokens
            let tokens = try await handler.refresh(.fixture)
            let isTaken = isTrusted && isSound && scheme == "https"
            #expect((tokens.subject?.id == "fixture-user") == isTaken && (tokens.idTokenProblem == nil) == isTaken)
            let error = await #expect(throws: IDTokenError.self) { try await idTokens.validate(token) }
            #expect(error?.code == .unsupportedAlgorithm, "it came on another way")
        }
    }
}
#endif
