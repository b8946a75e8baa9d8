#if Crypto
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Crypto
import Foundation
import Testing

@testable import OAuth2Flows

/// The checks of id tokens (OpenID Connect Core §3.1.3.7), with keys that are fetched over real sockets.
@Suite(.timeLimit(.minutes(10))) struct IDTokenTests {
    private let clock = ManualTimeSource()
    private let key = ServerKey.es256("first")
    private let server: SigningServer

    init() throws {
        server = try SigningServer(clock.date, [key])
    }

    private func code(_ call: () async throws -> some Sendable) async -> String? {
        do {
            _ = try await call()
            return nil
        } catch {
            return (error as? IDTokenError)?.code.rawValue ?? "\(error)"
        }
    }

    @Test(arguments: ServerKey.algorithms)
    func `a token that its server has signed is returned with its claims`(_ algorithm: String) async throws {
        struct Profile: Decodable { let email: String }
        let key = try ServerKey.of(algorithm, "first")
        let server = try SigningServer(clock.date, [key, .es256("other")])
        let claims = server.claims.merging([
            "auth_time": "1700000000", "acr": #""urn:mace:incommon:iap:silver""#, "amr": #"["pwd","otp"]"#,
        ]) { $1 }
        let token = try await server.validator(by: clock).validate(try key.sign(claims), nonce: "fixture-nonce")
        #expect(token.issuer == server.issuer && token.subject == "fixture-user")
        #expect(token.audiences == ["fixture-client"])
        #expect(token.issuedAt == clock.date && token.expiresAt == clock.date + 300)
        #expect(token.authenticatedAt == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(token.authenticationContext == "urn:mace:incommon:iap:silver")
        #expect(token.authenticationMethods == ["pwd", "otp"])
        #expect(try token.decode(Profile.self).email == "ada@example.com")
        var text = "\(token)"
        dump(token, to: &text)
        #expect(!text.contains("fixture-user") && !text.contains("ada@"))
    }

    /// Changes of the claims, and the rule that each breaks; `nil`: none.
    static let changes: [(claims: Members, rule: String?)] = [
        (["iss": #""https://evil.example.com""#], "wrongIssuer"), (["iss": "null"], "malformed"),
        (["aud": #""other-client""#], "wrongAudience"), (["aud": #"["other-client"]"#], "wrongAudience"),
        (["aud": "[]"], "wrongAudience"), (["aud": #"["fixture-client"]"#], nil),
        (["aud": #"["fixture-client","other"]"#], "wrongAuthorizedParty"),
        (["aud": #"["fixture-client","other"]"#, "azp": #""fixture-client""#], nil),
        (["azp": #""other""#], "wrongAuthorizedParty"), (["azp": #""fixture-client""#], nil),
        (["exp": "EXP-359"], nil), (["exp": "EXP-360"], "expired"), (["exp": "null"], "expired"),
        (["exp": #""tomorrow""#], "malformed"), (["iat": "EXP-240"], nil), (["iat": "EXP-239"], "issuedInFuture"),
        (["iat": "null"], "issuedInFuture"), (["nonce": #""other""#], "wrongNonce"), (["nonce": "null"], "wrongNonce"),
        (["sub": #""""#], "malformed"), (["sub": "null"], "malformed"),
        (["sub": #""\#(String(repeating: "s", count: 256))""#], "malformed"),
        (["sub": #""\#(String(repeating: "s", count: 255))""#], nil), (["sub": "7"], nil),
        (["sub": #""a\u0007b""#], "malformed"), (["nbf": "EXP-240"], nil), (["nbf": "EXP-239"], "issuedInFuture"),
        (["nbf": "null"], nil),
    ]

    @Test(arguments: changes.indices)
    func `a claim that breaks a rule refuses the token, and the error names the rule alone`(_ index: Int) async throws {
        let (changes, rule) = Self.changes[index]
        let expiry = Int(clock.date.timeIntervalSince1970) + 300
        let claims = server.claims.merging(changes) { $1 }.mapValues { value in
            value.hasPrefix("EXP") ? "\(expiry + (Int(value.dropFirst(3)) ?? 0))" : value
        }
        let text = try key.sign(claims)
        do {
            _ = try await server.validator(by: clock).validate(text, nonce: "fixture-nonce")
            #expect(rule == nil)
        } catch let error as IDTokenError {
            #expect(error.code.rawValue == rule, "\(changes)")
            var shown = "\(error) \(String(reflecting: error))"
            dump(error, to: &shown)
            for secret in ["fixture-user", "fixture-nonce", "ada@", text] { #expect(!shown.contains(secret)) }
        }
    }

    @Test func `without a nonce of the sign-in, one in the token is not compared`() async throws {
        #expect(try await server.validator(by: clock).validate(try key.sign(server.claims)).subject == "fixture-user")
    }

    @Test func `the token is checked by the server's clock where it is known`() async throws {
        let text = try key.sign(server.claims)
        let date = clock.date
        clock.setDate(date + 86_400)
        let validator = server.validator(by: clock)
        #expect(await code { try await validator.validate(text) } == "expired")
        #expect(try await validator.validate(text, at: date).subject == "fixture-user")
    }

    static let heads: [(head: Members, rule: String, name: String?)] = [
        (["alg": #""none""#], "unsupportedAlgorithm", "none"), (["alg": #""HS256""#], "unsupportedAlgorithm", "HS256"),
        (["alg": #""RS1""#], "unsupportedAlgorithm", "RS1"),
        (["alg": #""es256""#], "unsupportedAlgorithm", "es256"),
        (["alg": "null"], "malformed", nil), (["alg": #""RS256""#], "unknownKey", "RS256"),
        (["kid": #""other""#], "unknownKey", nil), (["crit": #"["b64"]"#], "malformed", "crit"),
        (["typ": #""at+jwt""#], "malformed", nil), (["typ": #""logout+jwt""#], "malformed", nil),
    ]

    @Test(arguments: heads.indices)
    func `a head that breaks a rule refuses the token, an algorithm by its name`(_ index: Int) async throws {
        let (head, rule, name) = Self.heads[index]
        let text = try key.sign(server.claims, header: head)
        do {
            _ = try await server.validator(by: clock).validate(text)
            Issue.record("\(head) was accepted")
        } catch let error as IDTokenError {
            #expect(error.code.rawValue == rule && name.map(error.reason.contains) ?? true, "\(error)")
        }
    }

    @Test(arguments: ["", "a", "a.b", "a.b.c", "..", "a.b.c.d", String(repeating: "a", count: 64 * 1_024 + 1)])
    func `what is no token is malformed, and fetches nothing`(_ text: String) async throws {
        #expect(await code { try await server.validator(by: clock).validate(text) } == "malformed")
        #expect(await code { try await server.validator(by: clock).validate("a.b.c.d.e") } == "unsupportedAlgorithm")
        #expect(server.fetches == 0)
    }

    @Test func `a token of more than 64 KiB is malformed, although all else is right`() async throws {
        for (length, rule) in [(32 * 1_024, nil), (64 * 1_024, "malformed")] {
            let more = server.claims.merging(["more": #""\#(String(repeating: "a", count: length))""#]) { $1 }
            let text = try key.sign(more)
            #expect(await code { try await server.validator(by: clock).validate(text) } == rule)
        }
    }

    @Test(arguments: ServerKey.algorithms)
    func `a changed token, and one of another key under the same identifier, are refused`(_ algorithm: String)
        async throws
    {
        let keys = try (0..<2).map { _ in try ServerKey.of(algorithm, "first") }
        let server = try SigningServer(clock.date, [keys[0]])
        let (right, wrong) = (try keys[0].sign(server.claims), try keys[1].sign(server.claims))
        let other = try keys[0].sign(server.claims.merging(["sub": #""mallory""#]) { $1 })
        let parts = right.split(separator: ".")
        let changed = [parts[0], other.split(separator: ".")[1], parts[2]].joined(separator: ".")
        let cut = right.dropLast(4)
        for text in [wrong, changed, String(cut), "\(parts[0]).\(parts[1])."] {
            #expect(
                await code { try await server.validator(by: clock).validate(text) } == "invalidSignature", "\(text)")
        }
    }

    @Test func `a signature by the published text of a key is none`() async throws {
        let content = [["alg": #""HS256""#, "kid": #""first""#], server.claims].map { $0.json.base64URL }
            .joined(separator: ".")
        let secret = SymmetricKey(data: key.published.json)
        let code = HMAC<SHA256>.authenticationCode(for: Data(content.utf8), using: secret)
        let text = "\(content).\(Data(code).base64URL)"
        #expect(await self.code { try await server.validator(by: clock).validate(text) } == "unsupportedAlgorithm")
    }

    @Test func `a token and a key without an identifier fit each other`() async throws {
        let (named, unnamed) = (key, ServerKey.es256(nil))
        let server = try SigningServer(clock.date, [named, unnamed])
        let validator = server.validator(by: clock)
        #expect(try await validator.validate(try unnamed.sign(server.claims)).subject == "fixture-user")
        #expect(try await validator.validate(try named.sign(server.claims)).subject == "fixture-user")
        let stranger = try ServerKey.es256(nil).sign(server.claims)
        #expect(await code { try await validator.validate(stranger) } == "invalidSignature")
    }

    @Test func `a server without published keys is an error that says what to set`() async throws {
        let validator = server.validator(by: clock) { $0.jwksURI = nil }
        let text = try key.sign(server.claims)
        let error = await #expect(throws: IDTokenError.self) { try await validator.validate(text) }
        #expect(error?.code == .keysUnavailable && error?.reason.contains("jwksURI") == true)
    }
}
#endif
