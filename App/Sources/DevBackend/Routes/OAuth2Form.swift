import Foundation

/// The parameters of an application/x-www-form-urlencoded body (RFC 6749 appendix B).
struct OAuth2Form: Sendable, Hashable {
    private let parameters: [String: String]

    /// Reads a body.
    ///
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
