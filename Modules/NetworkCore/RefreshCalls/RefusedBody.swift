import Foundation

/// The facts about the body of a refused call by which a refresh handler decides what the failure means.
package struct RefusedBody: Sendable, Hashable {
    /// Whether the body is a page of a proxy or gateway: HTML, or other text that starts with an angle bracket.
    package let isPage: Bool

    /// The codes of a JSON object, the most specific first: `error_code`, `errorCode`, `code`, `error`, `error.code`.
    package let codes: [String]

    /// The member `error` where it is a text (RFC 6749 §5.2).
    package let error: String?

    private let memberNames: Set<String>?
    private let success: Bool?

    /// Reads the body that an error keeps, and the error object of one that keeps none, such as that of a test double.
    package init(_ error: NetworkError) {
        // A body that was cut is no error object: those are short.
        let body = error.body.map { error.bodyLength > NetworkError.maximumBodyLength ? Data() : $0 }
        let members = body.flatMap { try? JSONDecoder().decode([String: Member].self, from: $0) }
        let isHTML = error.response?.headers["Content-Type"]?.lowercased().contains("html") == true
        let hasObject = body == nil ? error.serverError != nil : members != nil
        isPage = error.body?.startsWithAngleBracket == true || (isHTML && !hasObject)
        let codes = ["error_code", "errorCode", "code", "error"].map { members?[$0]?.text } + [members?["error"]?.code]
        self.codes = body == nil ? [error.serverError?.code].compactMap(\.self) : codes.compactMap(\.self)
        self.error = body == nil ? error.serverError?.code : members?["error"]?.text
        memberNames = members.map { Set($0.keys) }
        success = members?["success"]?.flag
    }

    /// Whether the body is a JSON object with these members, of which there is one at least, that does not claim
    /// success.
    package func isEnvelope(with members: Set<String>) -> Bool {
        guard let memberNames, !members.isEmpty, memberNames.isSuperset(of: members) else { return false }
        return success == false || !memberNames.contains("success")
    }
}

/// A member of an error object.
private struct Member: Decodable {
    private enum Key: String, CodingKey { case code }

    /// A text or a whole number.
    let text: String?

    /// A Boolean, or what some servers send in its place.
    let flag: Bool?

    /// The code inside an object.
    let code: String?

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        text = (try? value.decode(String.self)) ?? (try? value.decode(Int.self)).map(String.init)
        flag = (try? value.decode(Bool.self)) ?? text.map { !["false", "0", "no"].contains($0.lowercased()) }
        code = try? decoder.container(keyedBy: Key.self).decode(String.self, forKey: .code)
    }
}

extension Data {
    /// Whether the first character is `<`, after a byte order mark and white space.
    fileprivate var startsWithAngleBracket: Bool {
        let text = starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
        return text.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) } == UInt8(ascii: "<")
    }
}
