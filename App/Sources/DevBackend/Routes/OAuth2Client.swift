import Crypto
import Foundation

extension DevBackend {
    /// A confidential OAuth 2.0 client (RFC 6749 §2.1), or a public one without a secret.
    public struct OAuth2Client: Sendable {
        /// The client identifier (RFC 6749 §2.2).
        public var id: String
        /// The client secret; nil for a public client.
        public var secret: String?

        /// Creates a registered client.
        public init(id: String, secret: String?) {
            self.id = id
            self.secret = secret
        }
    }
}

extension DevBackend.OAuth2Client {
    /// Checks that a request comes from this client (RFC 6749 §2.3.1): by Basic, or by the body, never by both.
    ///
    /// - Throws: `invalid_client`, or `invalid_request` when the request uses two methods.
    func authenticate(_ form: OAuth2Form, authorization: String?) throws(OAuth2Error) {
        guard let authorization else {
            guard matches(id: form["client_id"], secret: form["client_secret"]) else {
                throw .invalidClient(usedHeader: false)
            }
            return
        }
        guard form["client_secret"] == nil else {
            throw .invalidRequest("The client authenticates in more than one way.")
        }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard
            words.count == 2, words[0].lowercased() == "basic",
            let decoded = Data(base64Encoded: String(words[1])).flatMap({ String(validating: $0, as: UTF8.self) }),
            let colon = decoded.firstIndex(of: ":"),
            matches(
                id: OAuth2Form.decode(decoded[..<colon]),
                secret: OAuth2Form.decode(decoded[decoded.index(after: colon)...]))
        else { throw .invalidClient(usedHeader: true) }
    }

    /// Compares digests, which takes the same time for any input.
    private func matches(id: String?, secret: String?) -> Bool {
        guard let id, SHA256.hash(data: Data(id.utf8)) == SHA256.hash(data: Data(self.id.utf8)) else { return false }
        return SHA256.hash(data: Data((secret ?? "").utf8)) == SHA256.hash(data: Data((self.secret ?? "").utf8))
    }
}

/// The parameters of an application/x-www-form-urlencoded body (RFC 6749 appendix B).
struct OAuth2Form: Sendable, Hashable {
    private let parameters: [String: String]

    /// - Throws: `invalid_request` when a parameter occurs twice (RFC 6749 §3.2) or is not UTF-8.
    init(_ body: String) throws(OAuth2Error) {
        var parameters: [String: String] = [:]
        for pair in body.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(halves[0]), let value = Self.decode(halves.count > 1 ? halves[1] : "") else {
                throw .invalidRequest("A parameter is not valid UTF-8.")
            }
            // RFC 6749 §3.2: a parameter without a value counts as left out.
            guard !value.isEmpty else { continue }
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw .invalidRequest("A parameter occurs more than once.")
            }
        }
        self.parameters = parameters
    }

    subscript(name: String) -> String? { parameters[name] }

    static func decode(_ text: some StringProtocol) -> String? {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }
}
