import AuthInterface
import Foundation
import NetworkCore

/// A proof of possession of a key (RFC 9449 §4.2), for one request.
struct DPoPProof: Sendable {
    /// A random text that no other proof has.
    var identifier = Self.randomText()

    let method: String

    /// The URL of the request as it is signed: see ``target(of:)``.
    let target: String

    /// The instant, on the server's clock.
    let issuedAt: Date

    /// The digest of the access token that the request carries; `nil` in a call for tokens.
    var tokenDigest: String?

    /// The nonce that the server wants; `nil` if none is known.
    var nonce: String?

    /// The proof, signed.
    ///
    /// - Throws: What the key throws.
    func signed(by key: any SigningKey) async throws -> String {
        let input = signingInput(key.publicKey, key.algorithm)
        return "\(input).\(try await key.sign(Data(input.utf8)).base64URL)"
    }

    /// What is signed (RFC 7515 §5.1). No part of it needs an escape: ``DPoPNonceTable`` keeps no nonce with a
    /// quotation mark or a backslash, and neither methods nor encoded URLs have one.
    private func signingInput(_ key: JSONWebKey, _ algorithm: SigningAlgorithm) -> String {
        let jwk = Self.object(key.members.map { ($0.name, "\"\($0.value)\"") })
        let header = Self.object([("typ", "\"dpop+jwt\""), ("alg", "\"\(algorithm)\""), ("jwk", jwk)])
        var claims = [
            ("jti", "\"\(identifier)\""), ("htm", "\"\(method)\""), ("htu", "\"\(target)\""),
            ("iat", "\(Int64(issuedAt.timeIntervalSince1970.rounded(.down)))"),
        ]
        if let tokenDigest { claims.append(("ath", "\"\(tokenDigest)\"")) }
        if let nonce { claims.append(("nonce", "\"\(nonce)\"")) }
        return "\(Data(header.utf8).base64URL).\(Data(Self.object(claims).utf8).base64URL)"
    }

    private static func object(_ members: [(String, String)]) -> String {
        "{\(members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}"
    }

    /// The URL of a request as a proof names it: scheme and host in lower case, no default port, a path, and neither
    /// query nor fragment (RFC 9449 §4.2, RFC 3986 §6.2). `nil`: no server can have the URL.
    static func target(of url: URL) -> String? {
        guard let origin = Origin(url), let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let host = parts.encodedHost?.lowercased()
        else { return nil }
        let path = parts.percentEncodedPath
        let port = Origin.defaultPorts[origin.scheme] == origin.port ? "" : ":\(origin.port)"
        return "\(origin.scheme)://\(host)\(port)\(path.isEmpty ? "/" : path)"
    }

    /// The digest of an access token (`ath`), or of the verifier of PKCE.
    static func digest(of token: String) -> String { SHA256Digest.of(Array(token.utf8)).base64URL }

    /// Random bytes as text that is safe in a URL.
    static func randomText(bytes count: Int = 16) -> String {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64URL
    }
}
