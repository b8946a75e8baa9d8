import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The facts about the body of an unsuccessful response by which a refresh handler decides; nothing else of it is kept.
package struct RefusedBody: Sendable, Hashable {
    /// In bytes. A longer body is not read: an error object is short.
    private static let maximumObjectSize = 64 * 1_024

    /// Whether the body is a page of a proxy or gateway: HTML, or other text that starts with an angle bracket.
    package let isPage: Bool

    /// The codes of a JSON object, the most specific first: `error_code`, `errorCode`, `code`, `error`, `error.code`.
    package let codes: [String]

    /// The member `error` where it is a text (RFC 6749 §5.2).
    package let error: String?

    private let memberNames: Set<String>?
    private let success: Bool?

    /// Reads the body of a response.
    package init(_ response: HTTPResponse) {
        let members = Self.members(of: response.body)
        let isLabelledAsHTML = response.head.isLabelledAsHTML
        isPage = response.body.startsWithAngleBracket || (isLabelledAsHTML && members == nil)
        codes = Self.codes(in: members ?? [:])
        error = members?["error"]?.text
        memberNames = members.map { Set($0.keys) }
        success = members?["success"]?.flag
    }

    /// Reads the error of a response whose body was not kept, such as an error of a test double.
    package init(_ error: NetworkError) {
        isPage = error.envelope == nil && error.response?.isLabelledAsHTML == true
        codes = [error.envelope?.code].compactMap(\.self)
        self.error = error.envelope?.code
        memberNames = nil
        success = nil
    }

    /// Whether the body is a JSON object with these members that does not claim success.
    ///
    /// - Parameter members: The names. No body is an envelope when this is empty.
    /// - Returns: `true` for such an object.
    package func isEnvelope(with members: Set<String>) -> Bool {
        guard let memberNames, !members.isEmpty, memberNames.isSuperset(of: members) else { return false }
        return success == false || !memberNames.contains("success")
    }

    private static func members(of body: Data) -> [String: Member]? {
        guard !body.isEmpty, body.count <= maximumObjectSize else { return nil }
        return try? JSONDecoder().decode([String: Member].self, from: body)
    }

    private static func codes(in members: [String: Member]) -> [String] {
        let direct = ["error_code", "errorCode", "code", "error"].compactMap { members[$0]?.text }
        return direct + [members["error"]?.code].compactMap(\.self)
    }
}

/// A member of an error object: a scalar, or the code inside an object.
private enum Member: Decodable {
    case flag(Bool)
    case text(String)
    case object(code: String?)
    case other

    private enum Key: String, CodingKey { case code }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Int.self) {
            self = .text(String(number))
        } else if let object = try? decoder.container(keyedBy: Key.self) {
            self = .object(code: try? object.decode(String.self, forKey: .code))
        } else {
            self = .other
        }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }

    /// A Boolean, or what some servers send in its place.
    var flag: Bool? {
        switch self {
        case .flag(let flag): flag
        case .text(let text): !["false", "0", "no"].contains(text.lowercased())
        default: nil
        }
    }

    var code: String? { if case .object(let code) = self { code } else { nil } }
}

extension HTTPResponseHead {
    fileprivate var isLabelledAsHTML: Bool {
        let type = headers["Content-Type"]?.lowercased() ?? ""
        return type.contains("html")
    }
}

extension Data {
    /// Whether the first character is `<`, after a byte order mark and white space.
    fileprivate var startsWithAngleBracket: Bool {
        let text = starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
        return text.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) } == UInt8(ascii: "<")
    }
}

/// Reads the responses of one call as another format does, and keeps the status and the refused body of the last one.
///
/// A refresh handler decides by them what a failure means. Create one for each call.
package final class ObservedFormat: ResponseFormat {
    private struct State {
        var status: Int?
        var refused: RefusedBody?
    }

    private let base: any ResponseFormat
    private let state = Locked(State())

    package init(_ base: any ResponseFormat) {
        self.base = base
    }

    package var mediaTypes: [String] { base.mediaTypes }

    /// The status of the last response that was read.
    package var status: Int? { state.withLock { $0.status } }

    /// The body of the last response that was not a success; `nil` when there was none.
    package var refused: RefusedBody? { state.withLock { $0.refused } }

    package func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse
    ) throws -> Value {
        note(response, isRefused: false)
        do {
            return try base.value(type, from: response)
        } catch {
            note(response, isRefused: true)
            throw error
        }
    }

    package func check(_ response: HTTPResponse) throws {
        note(response, isRefused: false)
        do {
            try base.check(response)
        } catch {
            note(response, isRefused: true)
            throw error
        }
    }

    package func failure(from response: HTTPResponse) -> ErrorEnvelope? {
        note(response, isRefused: true)
        return base.failure(from: response)
    }

    package func error<Failure: Decodable>(_ type: Failure.Type, from response: HTTPResponse) throws -> Failure {
        try base.error(type, from: response)
    }

    private func note(_ response: HTTPResponse, isRefused: Bool) {
        let refused = isRefused ? RefusedBody(response) : nil
        state.withLock { $0 = State(status: response.status, refused: refused) }
    }
}
