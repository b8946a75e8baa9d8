#if Crypto
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Crypto
import Foundation
import NetworkCore
import _CryptoExtras

@testable import OAuth2Flows

/// Members of a JSON object, each as JSON.
typealias Members = [String: String]

/// A key of a server, with its private half.
struct ServerKey: Sendable {
    private enum Secret: Sendable {
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// The algorithms by which a test can sign.
    static let algorithms = ["ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"]

    let id: String?
    let algorithm: String
    private let secret: Secret

    static func es256(_ id: String?) -> ServerKey {
        ServerKey(id: id, algorithm: "ES256", secret: .p256(P256.Signing.PrivateKey()))
    }

    static func rs256(_ id: String?) throws -> ServerKey { try of("RS256", id) }

    /// A key for an algorithm.
    static func of(_ algorithm: String, _ id: String?) throws -> ServerKey {
        let secret: Secret =
            switch algorithm {
            case "ES256": .p256(P256.Signing.PrivateKey())
            case "ES384": .p384(P384.Signing.PrivateKey())
            case "ES512": .p521(P521.Signing.PrivateKey())
            case "EdDSA": .ed25519(Curve25519.Signing.PrivateKey())
            default: .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048))
            }
        return ServerKey(id: id, algorithm: algorithm, secret: secret)
    }

    /// The public half, as the server publishes it.
    var published: Members {
        func curve(_ name: String, _ point: Data) -> Members {
            let length = point.count / 2
            return [
                "kty": #""EC""#, "crv": #""\#(name)""#, "x": #""\#(point.prefix(length).base64URL)""#,
                "y": #""\#(point.suffix(length).base64URL)""#,
            ]
        }
        var members: Members
        switch secret {
        case .p256(let key): members = curve("P-256", key.publicKey.rawRepresentation)
        case .p384(let key): members = curve("P-384", key.publicKey.rawRepresentation)
        case .p521(let key): members = curve("P-521", key.publicKey.rawRepresentation)
        case .ed25519(let key):
            let bytes = key.publicKey.rawRepresentation.base64URL
            members = ["kty": #""OKP""#, "crv": #""Ed25519""#, "x": #""\#(bytes)""#]
        case .rsa(let key):
            let numbers = try? key.publicKey.getKeyPrimitives()
            members = [
                "kty": #""RSA""#, "n": #""\#(numbers?.modulus.base64URL ?? "")""#,
                "e": #""\#(numbers?.publicExponent.base64URL ?? "")""#,
            ]
        }
        members["use"] = #""sig""#
        members["kid"] = id.map { #""\#($0)""# }
        return members
    }

    /// Signs claims. The members of the header replace its own.
    func sign(_ claims: Members, header: Members = [:]) throws -> String {
        var head: Members = ["alg": #""\#(algorithm)""#, "typ": #""JWT""#]
        head["kid"] = id.map { #""\#($0)""# }
        let content = [head.merging(header) { $1 }, claims].map { $0.json.base64URL }.joined(separator: ".")
        return "\(content).\(try signature(of: Data(content.utf8)).base64URL)"
    }

    private func signature(of content: Data) throws -> Data {
        switch secret {
        case .p256(let key): return try key.signature(for: content).rawRepresentation
        case .p384(let key): return try key.signature(for: content).rawRepresentation
        case .p521(let key): return try key.signature(for: content).rawRepresentation
        case .ed25519(let key): return try key.signature(for: content)
        case .rsa(let key):
            let hash: any Digest
            switch algorithm.suffix(3) {
            case "256": hash = SHA256.hash(data: content)
            case "384": hash = SHA384.hash(data: content)
            default: hash = SHA512.hash(data: content)
            }
            let padding: _RSA.Signing.Padding = algorithm.hasPrefix("PS") ? .PSS : .insecurePKCS1v1_5
            return try key.signature(for: hash, padding: padding).rawRepresentation
        }
    }
}

extension Members {
    var json: Data { Data("{\(sorted { $0.key < $1.key }.map { #""\#($0)":\#($1)"# }.joined(separator: ","))}".utf8) }
}

/// A server of OpenID Connect: publishes its keys at `/keys`, and issues tokens with an id token at `/token`.
final class SigningServer: AuthorizationServer {
    private struct State: Sendable {
        var keys: LoopbackServer.Action = .respond(404)
        var idToken: String?
        var hasRefreshToken = true
        var date: Date
    }

    private let state: Locked<State>
    let provider: LoopbackProvider

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - date: Its clock.
    ///   - keys: The keys that it publishes.
    ///   - onFetch: Is called when the keys are fetched, and may block.
    /// - Throws: `POSIXError` when no port is available.
    init(_ date: Date, _ keys: [ServerKey], onFetch: @escaping @Sendable () -> Void = {}) throws {
        let state = Locked(State(date: date))
        self.state = state
        provider = try LoopbackProvider { call in
            switch call.path {
            case "/keys":
                onFetch()
                return state.withLock { $0.keys }
            case "/token": return state.withLock { Self.tokens($0) }
            case "/device": return nil
            default: return .respond(404)
            }
        }
        publish(keys)
    }

    private static func tokens(_ state: State) -> LoopbackServer.Action {
        let id = state.idToken.map { #","id_token":"\#($0)""# } ?? ""
        let refreshToken = state.hasRefreshToken ? #","refresh_token":"fixture-refresh""# : ""
        return .json(
            #"{"access_token":"fixture-access","token_type":"Bearer"\#(refreshToken)\#(id)}"#,
            headers: ["Date": state.date.headerField])
    }

    var url: URL { provider.url }

    /// The number of times that the keys were fetched.
    var fetches: Int { provider.calls(at: "/keys").count }

    /// Publishes other keys.
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
        _ key: ServerKey, hasRefreshToken: Bool = true,
        _ change: @escaping @Sendable (inout Members) -> Void = { _ in }
    ) -> PromptUserAgent {
        PromptUserAgent { [self] page in
            var claims = claims
            claims["nonce"] = page.values(of: "nonce").first.map { #""\#($0)""# }
            change(&claims)
            issue(try key.sign(claims), hasRefreshToken: hasRefreshToken)
        }
    }

    /// A validator of this server's tokens.
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
        let now = Int(state.withLock { $0.date }.timeIntervalSince1970)
        return [
            "iss": #""\#(issuer)""#, "sub": #""fixture-user""#, "aud": #""\#(OAuth2Client.fixture.id)""#,
            "iat": "\(now)", "exp": "\(now + 300)", "nonce": #""fixture-nonce""#, "email": #""ada@example.com""#,
        ]
    }
}
#endif
