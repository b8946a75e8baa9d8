#if Crypto
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Testing

@testable import OAuth2Flows

/// Keys as servers publish them (RFC 7517), and when they are fetched.
@Suite(.timeLimit(.minutes(10))) struct VerificationKeyTests {
    private let clock = ManualTimeSource()
    private let key = ServerKey.es256("first")
    private let server: LoopbackProvider

    init() throws { server = try LoopbackProvider(clock.date, [key]) }

    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let modulus = """
        ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-\
        pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2Ca\
        pHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb5\
        4h4FRWyuXpoQ
        """
    private static let rsaSignature = """
        cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr\
        7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--x\
        i12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_Ioy\
        pGlUPQGe77Rw
        """
    private static let point = (
        x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    )
    private static let pointSignature =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    private static let rsaKey = #"{"kty":"RSA","n":"\#(modulus)","e":"AQAB"}"#
    private static let pointKey = #"{"kty":"EC","crv":"P-256","x":"\#(point.x)","y":"\#(point.y)"}"#

    private func keys(_ objects: String...) throws -> [VerificationKey] {
        let set = #"{"keys":[\#(objects.joined(separator: ","))]}"#
        return try JSONDecoder().decode(VerificationKeySet.self, from: Data(set.utf8)).keys
    }

    /// Keys and what they have signed: of RFC 7515, appendices A.2, A.3 and A.4, and of RFC 8037, appendix A.4.
    static let examples = [
        (rsaKey, "eyJhbGciOiJSUzI1NiJ9.\(payload).\(rsaSignature)"),
        (pointKey, "eyJhbGciOiJFUzI1NiJ9.\(payload).\(pointSignature)"),
        (
            """
            {"kty":"EC","crv":"P-521",\
            "x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk",\
            "y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"}
            """,
            """
            eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB\
            34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn
            """
        ),
        (
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            """
            eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijc\
            NR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg
            """
        ),
    ]

    @Test(arguments: examples)
    func `the examples of the RFCs are signed by their own keys`(_ key: String, _ text: String) throws {
        let token = try JSONWebSignature(text)
        let own = try #require(try keys(key).first)
        let all = try Self.examples.flatMap { try keys($0.0) }
        #expect(VerificationKeySet(keys: all).candidates(for: token) == [own])
        #expect(own.isValid(token.signature, for: token.signedContent, by: token.algorithm))
        #expect(!own.isValid(token.signature, for: token.signedContent + [0], by: token.algorithm))
        #expect(!own.isValid(token.signature.dropLast(), for: token.signedContent, by: token.algorithm))
        for other in all where other != own {
            #expect(!other.isValid(token.signature, for: token.signedContent, by: token.algorithm))
        }
    }

    @Test func `a key is for the algorithm that it names, or for those of its kind`() throws {
        let kinds: [(key: String, algorithms: Set<SignatureAlgorithm>)] = [
            (Self.pointKey, [.es256]), (Self.rsaKey, [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]),
            (Self.rsaKey.replacingOccurrences(of: "}", with: #","alg":"PS256"}"#), [.ps256]),
            (Self.examples[2].0, [.es512]), (Self.examples[3].0, [.edDSA]),
        ]
        for (key, algorithms) in kinds {
            let key = try #require(try keys(key).first)
            #expect(Set(SignatureAlgorithm.allCases.filter(key.isFor)) == algorithms)
        }
    }

    static let unusable = [
        #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
        #"{"kty":"EC","crv":"P-521","x":"\#(point.x)","y":"\#(point.y)"}"#,
        #"{"kty":"EC","crv":"P-256","x":"\#(point.x)"}"#, #"{"kty":"EC","crv":"P-256","x":"AQAB","y":"\#(point.y)"}"#,
        #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"RSA","n":"\#(modulus)","e":"AQABAQAB"}"#,
        #"{"kty":"RSA","n":"\#(modulus)","e":"AA"}"#,
        #"{"kty":"RSA","n":"\#(modulus)","e":"AQAB","alg":"RSA-OAEP"}"#,
        #"{"kty":"RSA","n":"\#(modulus)","e":"AQAB","alg":"ES256"}"#,
        #"{"kty":"OKP","crv":"X25519","x":"\#(point.x)"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"AQAB"}"#,
        #"{"kty":"RSA","n":"\#(modulus)","e":"AQAB","use":"enc"}"#,
        #"{"kty":"RSA","n":"\#(modulus)","e":"AQAB","key_ops":["encrypt"]}"#, "{}", "null", "[]", "7",
    ]

    @Test(arguments: unusable)
    func `a key that signs no id token is left out, and the others are used`(_ object: String) throws {
        #expect(try keys(object, Self.pointKey) == keys(Self.pointKey))
    }

    @Test func `a point that is not on the curve verifies nothing`() throws {
        let key = try #require(
            try keys(#"{"kty":"EC","crv":"P-256","x":"\#(Self.point.y)","y":"\#(Self.point.x)"}"#).first)
        #expect(!key.isValid(Data(count: 64), for: Data(), by: .es256))
    }

    // When keys are fetched.

    /// A token of a key: the seconds before it, the rule that it breaks, and the fetches so far.
    private typealias Step = (pause: Int, key: ServerKey, rule: String?, fetches: Int?)

    private func check(_ steps: [Step], by validator: IDTokenValidator) async throws {
        for (number, step) in steps.enumerated() {
            clock.advance(by: .seconds(step.pause))
            var rule: String?
            do { _ = try await validator.validate(try step.key.sign(server.claims)) } catch let error as IDTokenError {
                rule = error.code.rawValue
            }
            #expect(rule == step.rule && server.fetches == step.fetches ?? server.fetches, "step \(number)")
        }
    }

    @Test func `a new key of the server is fetched when a token has it, after a pause`() async throws {
        let (second, validator) = (ServerKey.es256("second"), server.validator(by: clock))
        try await check([(0, key, nil, 1)], by: validator)
        server.publish([second])
        // A token must not cause a call each time.
        try await check([(59, second, "unknownKey", 1), (1, second, nil, 2), (0, key, "unknownKey", 2)], by: validator)
    }

    @Test func `KE7: a key that is replaced under its identifier is fetched again once, after a pause`() async throws {
        let (second, validator) = (ServerKey.es256("first"), server.validator(by: clock))
        try await check([(0, key, nil, 1)], by: validator)
        server.publish([second])
        try await check(
            [
                (59, key, nil, 1), (0, second, "invalidSignature", 1), (1, second, nil, 2),
                (0, key, "invalidSignature", 2),
            ], by: validator)
    }

    @Test func `a key that the server withdraws is refused when the keys are too old`() async throws {
        let validator = server.validator(by: clock, maximumKeyAge: .seconds(200))
        try await check([(0, key, nil, 1)], by: validator)
        server.publish([.es256("second")])
        try await check([(199, key, nil, 1), (1, key, "unknownKey", 2)], by: validator)
    }

    @Test func `an age of zero fetches the keys for each token, once`() async throws {
        let validator = server.validator(by: clock, maximumKeyAge: .zero)
        try await check([(0, key, nil, 1), (0, key, nil, 2)], by: validator)
    }

    @Test func `many tokens wait for one fetch, and one that is cancelled leaves at once`() async throws {
        let (arrived, leave) = (Turn<Void>(), DispatchSemaphore(value: 0))
        let server = try LoopbackProvider(clock.date, [key]) { _ in
            arrived.end(.success(()))
            leave.wait()
            return nil
        }
        let validator = server.validator(by: clock)
        let text = try key.sign(server.claims)
        let tasks = (0..<10).map { _ in Task { try await validator.validate(text).subject } }
        try await arrived.valueUnlessCancelled()
        let cancelled = Task { try await validator.validate(text).subject }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        leave.signal()
        for task in tasks { #expect(try await task.value == "fixture-user") }
        #expect(server.fetches == 1)
    }

    static let failures: [LoopbackServer.Action] = [
        .respond(503), .respond(404), .close, .json("<html></html>"), .json("[]"), .json(#"{"keys":7}"#),
        .json(#"{"keys":[\#(Array(repeating: pointKey, count: 101).joined(separator: ","))]}"#),
        .json(#"{"keys":[],"more":"\#(String(repeating: "a", count: 256 * 1_024))"}"#),
        .respond(302, headers: ["Location": "https://evil.example.com/keys"]),
    ]

    @Test(arguments: failures.indices)
    func `keys that cannot be read are fetched again for the next token`(_ index: Int) async throws {
        server.publish(Self.failures[index])
        let validator = server.validator(by: clock)
        try await check([(0, key, "keysUnavailable", nil)], by: validator)
        server.publish([key])
        #expect(try await validator.validate(try key.sign(server.claims)).subject == "fixture-user")
    }

    @Test func `the keys of another origin are not read where a redirect leads there`() async throws {
        let foreign = ServerKey.es256("foreign")
        let other = try LoopbackProvider(clock.date, [foreign])
        let location = try #require(other.description.jwksURI).absoluteString
        server.publish(.respond(302, headers: ["Location": location]))
        try await check([(0, foreign, "keysUnavailable", nil)], by: server.validator(by: clock))
        #expect(other.fetches == 0)
    }

    @Test func `a hundred keys are read`() throws {
        #expect(try keys(String(repeating: Self.pointKey + ",", count: 99) + Self.pointKey).count == 100)
    }
}
#endif
