#if Crypto
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Crypto
import Foundation
import _CryptoExtras

@testable import OAuth2Flows

/// Members of a JSON object, each as JSON.
typealias Members = [String: String]

/// A key of a server, with its private half.
struct ServerKey: Sendable {
    /// The algorithms by which a test can sign. RFCs have examples of the others: see `VerificationKeyTests`.
    static let algorithms = ["ES256", "ES384", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]

    let id: String?
    let algorithm: String
    private let publicHalf: Members
    private let signature: @Sendable (Data) throws -> Data

    static func es256(_ id: String?) -> ServerKey {
        let key = P256.Signing.PrivateKey()
        return ServerKey(id: id, algorithm: "ES256", publicHalf: .point(key.publicKey.rawRepresentation, of: "P-256")) {
            try key.signature(for: $0).rawRepresentation
        }
    }

    static func of(_ algorithm: String, _ id: String?) throws -> ServerKey {
        switch algorithm {
        case "ES256": return es256(id)
        case "ES384":
            let key = P384.Signing.PrivateKey()
            let point = Members.point(key.publicKey.rawRepresentation, of: "P-384")
            return ServerKey(id: id, algorithm: algorithm, publicHalf: point) {
                try key.signature(for: $0).rawRepresentation
            }
        default:
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let numbers = try key.publicKey.getKeyPrimitives()
            let isPSS = algorithm.hasPrefix("PS")
            // A zero before the number, as some servers write it, changes nothing.
            let modulus = (isPSS ? [0] + numbers.modulus : numbers.modulus).base64URL
            let exponent = numbers.publicExponent.base64URL
            let padding: _RSA.Signing.Padding = isPSS ? .PSS : .insecurePKCS1v1_5
            let numbersAsText: Members = ["kty": #""RSA""#, "n": #""\#(modulus)""#, "e": #""\#(exponent)""#]
            return ServerKey(id: id, algorithm: algorithm, publicHalf: numbersAsText) { content in
                let hash: any Digest =
                    switch algorithm.suffix(3) {
                    case "256": SHA256.hash(data: content)
                    case "384": SHA384.hash(data: content)
                    default: SHA512.hash(data: content)
                    }
                return try key.signature(for: hash, padding: padding).rawRepresentation
            }
        }
    }

    /// The public half, as the server publishes it.
    var published: Members {
        var members = publicHalf
        members["use"] = #""sig""#
        members["kid"] = id.map { #""\#($0)""# }
        return members
    }

    /// Signs claims. The members of the header replace its own.
    func sign(_ claims: Members, header: Members = [:]) throws -> String {
        var head: Members = ["alg": #""\#(algorithm)""#, "typ": #""JWT""#]
        head["kid"] = id.map { #""\#($0)""# }
        let content = [head.merging(header) { $1 }, claims].map { $0.json.base64URL }.joined(separator: ".")
        return "\(content).\(try signature(Data(content.utf8)).base64URL)"
    }
}

extension Members {
    fileprivate static func point(_ point: Data, of curve: String) -> Members {
        let (x, y) = (point.prefix(point.count / 2).base64URL, point.suffix(point.count / 2).base64URL)
        return ["kty": #""EC""#, "crv": #""\#(curve)""#, "x": #""\#(x)""#, "y": #""\#(y)""#]
    }

    var json: Data { Data("{\(sorted { $0.key < $1.key }.map { #""\#($0)":\#($1)"# }.joined(separator: ","))}".utf8) }
}

// The server of OpenID Connect: it publishes keys, and issues id tokens beside its tokens.
extension LoopbackProvider {
    /// Starts a server that has a clock and publishes keys.
    convenience init(
        _ date: Date, _ keys: [ServerKey],
        _ script: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Action? = { _ in nil }
    ) throws {
        try self.init(script)
        state.withLock { $0.date = date }
        publish(keys)
    }

    var fetches: Int { calls(at: "/keys").count }

    func publish(_ keys: [ServerKey]) {
        let objects = keys.map { String(decoding: $0.published.json, as: UTF8.self) }
        publish(.json(#"{"keys":[\#(objects.joined(separator: ","))]}"#))
    }

    func publish(_ response: LoopbackServer.Action) { state.withLock { $0.keys = response } }

    /// Issues an id token with the next tokens.
    func issue(_ idToken: String?, hasRefreshToken: Bool = true) {
        state.withLock { ($0.idToken, $0.hasRefreshToken) = (idToken, hasRefreshToken) }
    }

    /// A user who signs in at once: the server issues an id token with the nonce of the page.
    func user(
        _ key: ServerKey, hasRefreshToken: Bool = true, _ change: @escaping @Sendable (inout Members) -> Void = { _ in }
    ) -> PromptUserAgent {
        PromptUserAgent { [self] page in
            var claims = claims
            claims["nonce"] = page.values(of: "nonce").first.map { #""\#($0)""# }
            change(&claims)
            issue(try key.sign(claims), hasRefreshToken: hasRefreshToken)
        }
    }

    func validator(
        by clock: any TimeSource, maximumKeyAge: Duration = .seconds(3_600),
        _ change: (inout OAuth2Server) -> Void = { _ in }
    ) -> IDTokenValidator {
        var server = description
        change(&server)
        var validator = IDTokenValidator(
            server: server, client: .fixture, network: network, maximumKeyAge: maximumKeyAge,
            minimumPause: .seconds(60))
        validator.clock = clock
        return validator
    }

    /// The claims of a token that is as it should be.
    var claims: Members {
        let now = Int(state.withLock { $0.date }?.timeIntervalSince1970 ?? 0)
        return [
            "iss": #""\#(issuer)""#, "sub": #""fixture-user""#, "aud": #""\#(OAuth2Client.fixture.id)""#,
            "iat": "\(now)", "exp": "\(now + 300)", "nonce": #""fixture-nonce""#, "email": #""ada@example.com""#,
        ]
    }
}
#endif
