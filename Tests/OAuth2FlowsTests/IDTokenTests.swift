#if Crypto
import AuthInterface
import ContractTesting
import Foundation
import Testing

@testable import OAuth2Flows

/// The checks of id tokens (OpenID Connect Core §3.1.3.7), with keys that are fetched over real sockets.
@Suite(.timeLimit(.minutes(10))) struct IDTokenTests {
    private let clock = ManualTimeSource()
    private let key = ServerKey.es256("first")
    private let server: LoopbackProvider

    init() throws { server = try LoopbackProvider(clock.date, [key]) }

    /// The error of a token, which shows nothing of it. `nil`: it breaks no rule.
    private func error(
        of text: String, by validator: IDTokenValidator? = nil, nonce: String? = nil
    ) async -> IDTokenError? {
        do {
            _ = try await (validator ?? server.validator(by: clock)).validate(text, nonce: nonce)
            return nil
        } catch {
            #expect(error is IDTokenError)
            var shown = "\(error) \(String(reflecting: error))"
            dump(error, to: &shown)
            for secret in ["fixture-user", "fixture-nonce", "ada@", text] where secret.count > 3 {
                #expect(!shown.contains(secret))
            }
            return error as? IDTokenError
        }
    }

    @Test(arguments: ServerKey.algorithms)
    func `a token that its server has signed is returned with its claims`(_ algorithm: String) async throws {
        struct Profile: Decodable { let email: String }
        let key = try ServerKey.of(algorithm, "first")
        let server = try LoopbackProvider(clock.date, [key, .es256("other")])
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
        (["sub": #""\#(String(repeating: "s", count: 255))""#], nil), (["sub": "7"], nil), (["sub": "0"], nil),
        (["sub": #""0""#], nil), (["sub": "0.5"], "malformed"), (["sub": "1e30"], "malformed"),
        (["sub": #""a\u0007b""#], "malformed"), (["nbf": "EXP-240"], nil), (["nbf": "EXP-239"], "issuedInFuture"),
        (["nbf": "null"], nil),
        // A token of more than 64 KiB, although all else is right.
        (["more": #""\#(String(repeating: "a", count: 32 * 1_024))""#], nil),
        (["more": #""\#(String(repeating: "a", count: 64 * 1_024))""#], "malformed"),
    ]

    @Test(arguments: changes)
    func `a wrong claim refuses the token, and the error names the rule`(changes: Members, rule: String?) async throws {
        let expiry = Int(clock.date.timeIntervalSince1970) + 300
        let claims = changes.mapValues { value in
            value.hasPrefix("EXP") ? "\(expiry + (Int(value.dropFirst(3)) ?? 0))" : value
        }
        let text = try key.sign(server.claims.merging(claims) { $1 })
        #expect(await error(of: text, nonce: "fixture-nonce")?.code.rawValue == rule, "\(claims)")
    }

    @Test func `the token is checked by the server's clock where it is known`() async throws {
        let text = try key.sign(server.claims)
        let date = clock.date
        clock.setDate(date + 86_400)
        #expect(await error(of: text)?.code == .expired)
        #expect(try await server.validator(by: clock).validate(text, at: date).subject == "fixture-user")
    }

    static let heads: [(head: Members, rule: String, name: String?)] = [
        (["alg": #""none""#], "unsupportedAlgorithm", "none"), (["alg": #""HS256""#], "unsupportedAlgorithm", "HS256"),
        (["alg": #""RS1""#], "unsupportedAlgorithm", "RS1"),
        (["alg": #""es256""#], "unsupportedAlgorithm", "es256"),
        (["alg": "null"], "malformed", nil), (["alg": #""RS256""#], "unknownKey", "RS256"),
        (["kid": #""other""#], "unknownKey", nil), (["crit": #"["b64"]"#], "malformed", "crit"),
        (["typ": #""at+jwt""#], "malformed", nil), (["typ": #""logout+jwt""#], "malformed", nil),
    ]

    @Test(arguments: heads)
    func `a wrong head refuses a token, an algorithm by name`(head: Members, rule: String, name: String?) async throws {
        let error = await error(of: try key.sign(server.claims, header: head), nonce: "fixture-nonce")
        #expect(error?.code.rawValue == rule && name.map { error?.reason.contains($0) == true } ?? true, "\(head)")
    }

    @Test(arguments: ["", "a", "a.b", "a.b.c", "..", "a.b.c.d", String(repeating: "a", count: 64 * 1_024 + 1)])
    func `what is no token is malformed, and fetches nothing`(_ text: String) async throws {
        #expect(await error(of: text)?.code == .malformed)
        #expect(await error(of: "a.b.c.d.e")?.code == .unsupportedAlgorithm)
        #expect(server.fetches == 0)
    }

    @Test(arguments: ServerKey.algorithms)
    func `a changed token, and one of another key of that name, are refused`(_ algorithm: String) async throws {
        let keys = try (0..<2).map { _ in try ServerKey.of(algorithm, "first") }
        let server = try LoopbackProvider(clock.date, [keys[0]])
        let (right, wrong) = (try keys[0].sign(server.claims), try keys[1].sign(server.claims))
        let other = try keys[0].sign(server.claims.merging(["sub": #""mallory""#]) { $1 })
        let parts = right.split(separator: ".")
        let changed = [parts[0], other.split(separator: ".")[1], parts[2]].joined(separator: ".")
        for text in [wrong, changed, String(right.dropLast(4)), "\(parts[0]).\(parts[1])."] {
            #expect(await error(of: text, by: server.validator(by: clock))?.code == .invalidSignature, "\(text)")
        }
    }

    @Test func `a token and a key without an identifier fit each other`() async throws {
        let (named, unnamed) = (key, ServerKey.es256(nil))
        let server = try LoopbackProvider(clock.date, [named, unnamed])
        let validator = server.validator(by: clock)
        for key in [named, unnamed] {
            #expect(await error(of: try key.sign(server.claims), by: validator) == nil)
        }
        let stranger = try ServerKey.es256(nil).sign(server.claims)
        #expect(await error(of: stranger, by: validator)?.code == .invalidSignature)
    }

    @Test func `a server without published keys is an error that says what to set`() async throws {
        let validator = server.validator(by: clock) { $0.jwksURI = nil }
        let text = try key.sign(server.claims)
        let error = await #expect(throws: IDTokenError.self) { try await validator.validate(text) }
        #expect(error?.code == .keysUnavailable && error?.reason.contains("jwksURI") == true)
    }

    // A server of many tenants: Microsoft Entra ID.

    private static let template = "https://login.example.com/{tenantid}/v2.0"
    private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    private static let other = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// Claims of a token, whether they are of one of all tenants, and whether of one that is listed.
    static let tenants: [(issuer: String, tid: String?, ofAll: Bool, ofListed: Bool)] = [
        ("https://login.example.com/\(tenant)/v2.0", tenant, true, true),
        ("https://login.example.com/\(other)/v2.0", other, true, false),
        ("https://login.example.com/\(other)/v2.0", tenant, false, false),
        ("https://login.example.com/\(tenant)/v2.0", nil, false, false),
        ("https://login.example.com/common/v2.0", "common", false, false), (template, "{tenantid}", false, false),
        ("https://evil.example.com/\(tenant)/v2.0", tenant, false, false),
        ("https://login.example.com/\(tenant)/v1.0", tenant, false, false),
        ("https://login.example.com//v2.0", "", false, false), ("https://login.example.com/v2.0", "", false, false),
    ]

    @Test func `a token is of the tenant that its issuer names, which is a GUID`() async throws {
        let listed = OAuth2Tenants.only([try #require(UUID(uuidString: Self.tenant))])
        for (issuer, tid, ofAll, ofListed) in Self.tenants {
            var claims = server.claims.merging(["iss": #""\#(issuer)""#]) { $1 }
            claims["tid"] = tid.map { #""\#($0)""# }
            let text = try key.sign(claims)
            for (tenants, isAccepted) in [(OAuth2Tenants.all, ofAll), (listed, ofListed)] {
                let validator = server.validator(by: clock) { ($0.issuer, $0.tenants) = (Self.template, tenants) }
                #expect(await error(of: text, by: validator)?.code == (isAccepted ? nil : .wrongIssuer), "\(issuer)")
            }
        }
    }

    @Test func `a response may name the issuer with any of the tenants`() {
        var server = OAuth2Server(issuer: Self.template, tokenEndpoint: self.server.url)
        server.tenants = .all
        #expect(server.isIssuer("https://login.example.com/\(Self.other)/v2.0"))
        #expect(!server.isIssuer("https://login.example.com/common/v2.0") && !server.isIssuer(Self.template))
    }
}
#endif
