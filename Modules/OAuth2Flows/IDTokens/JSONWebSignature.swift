import AuthInterface
import Foundation
import NetworkCore

/// A signed text in the compact serialization of RFC 7515 §7.1. It is read, and not verified.
struct JSONWebSignature: Sendable {
    let algorithm: SignatureAlgorithm
    let keyID: String?
    let payload: Data
    let signature: Data

    /// What is signed (RFC 7515 §5.2, step 8).
    let signedContent: Data

    /// The payload of a text whose signature is not looked at. `nil`: it is encrypted, too long, or no JSON Web Token.
    static func payload(of text: String) -> Data? {
        guard let parts = try? parts(of: text), parts.count == 3 else { return nil }
        return Data(base64URL: parts[1])
    }

    private static func parts(of text: String) throws(IDTokenError) -> [Substring] {
        guard text.utf8.count <= IDToken.maximumLength else {
            throw IDTokenError(.malformed, reason: "it has more than \(IDToken.maximumLength) bytes")
        }
        return text.split(separator: ".", omittingEmptySubsequences: false)
    }

    /// Reads a token.
    ///
    /// - Throws: ``IDTokenError`` with code `malformed`, or `unsupportedAlgorithm` with the name of the algorithm.
    init(_ text: String) throws(IDTokenError) {
        let parts = try Self.parts(of: text)
        guard parts.count != 5 else { throw IDTokenError(.unsupportedAlgorithm, reason: "it is encrypted") }
        guard parts.count == 3, let head = Data(base64URL: parts[0]), let payload = Data(base64URL: parts[1]),
            let signature = Data(base64URL: parts[2]), let header = try? JSONDecoder().decode(Header.self, from: head)
        else { throw IDTokenError(.malformed, reason: "it is no JSON Web Token") }
        // RFC 7515 §4.1.11: an extension that is not understood. RFC 8725 §3.11: a token of another kind.
        guard header.crit == nil else {
            throw IDTokenError(.malformed, reason: "it needs extensions that are not supported (crit)")
        }
        guard header.typ?.lowercased().hasSuffix("+jwt") != true else {
            throw IDTokenError(.malformed, reason: "it is a token of another kind")
        }
        guard let algorithm = SignatureAlgorithm(rawValue: header.alg) else {
            let name = header.alg.asIdentifier(withoutQuoting: [])
            let known = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw IDTokenError(.unsupportedAlgorithm, reason: "\(name) is not supported; \(known) are")
        }
        (self.algorithm, keyID, self.payload, self.signature) = (algorithm, header.kid, payload, signature)
        signedContent = Data(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    private struct Header: Decodable {
        let alg: String
        let kid: String?
        let typ: String?
        let crit: JSONValue?
    }
}
