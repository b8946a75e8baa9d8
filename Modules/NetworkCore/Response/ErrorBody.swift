package import Foundation

/// The body of a failed call, in any of the forms in which servers write an error: an object with a code and a message,
/// one inside a member `error`, a list or a map of errors, a form (RFC 6749 §5.2, RFC 9457, JSON:API, GraphQL, and
/// those of frameworks). All that looks for an error in a body reads it here.
package struct ErrorBody: Sendable, Hashable {
    /// Where codes are, the most specific place first.
    package static let codePlaces: [MemberPath] = [
        "error_code", "errorCode", "code", "error", "error.status", "error.code", "error.type", "__type", "errcode",
        "errors[].code", "errors[].extensions.code", "errors[].errorType", "[].errorCode", "[].code",
    ]

    private static let messagePlaces: [MemberPath] = [
        "message", "error_description", "detail", "title", "msg", "errmsg", "error.message", "error.message[]",
        "errors[].message", "errors[].detail", "[].message",
    ]

    /// The places of the tokens of a response.
    private static let tokenPlaces: [MemberPath] = [
        "access_token", "accessToken", "refresh_token", "refreshToken", "data.access_token", "data.accessToken",
        "data.refresh_token", "data.refreshToken", "authed_user.access_token",
    ]

    /// The header field in which AWS names an error.
    private static let codeField = "x-amzn-ErrorType"

    let value: JSONValue
    private var codeOfField: String?

    package init(_ value: JSONValue) { self.value = value }

    /// Reads JSON of any media type, or a form where its media type says so. `nil`: neither an object nor a list.
    package init?(_ body: Data, _ headers: HTTPHeaders? = nil) {
        let isForm = MediaType(headers?.first(of: "Content-Type"))?.isForm == true
        let json = try? JSONDecoder().decode(JSONValue.self, from: body)
        switch json ?? (isForm ? JSONValue(form: String(decoding: body, as: UTF8.self)) : nil) {
        case .object(let members)?: value = .object(members)
        case .list(let list)?: value = .list(list)
        default: return nil
        }
        codeOfField = headers?[Self.codeField]?.withoutNamespace
    }

    /// Whether the body is an object.
    package var memberNames: Set<String>? { value.members.map { Set($0.keys) } }

    /// What a member `success` says.
    package var success: Bool? { value.members?["success"]?.flag }

    /// Whether the body is an object with these members, of which there is one at least, that does not claim success.
    package func isEnvelope(with members: Set<String>) -> Bool {
        guard let memberNames, !members.isEmpty, memberNames.isSuperset(of: members) else { return false }
        return success == false || !memberNames.contains("success")
    }

    /// Whether a body with a successful status says that the call failed: GraphQL, ArcGIS, Slack.
    var saysFailure: Bool {
        guard let members = value.members, success != true else { return false }
        let isObject = members["error"]?.members?.isEmpty == false
        return isObject || members["error"]?.text != nil || !value.values(at: "errors[]").isEmpty
    }

    /// The tokens in the body.
    package var tokens: [String] { Self.tokenPlaces.flatMap { texts(at: $0) } }

    /// The texts and numbers at a place.
    package func texts(at place: MemberPath) -> [String] { value.values(at: place).compactMap(\.text) }

    package func text(at places: MemberPath...) -> String? { places.lazy.flatMap { texts(at: $0) }.first }

    /// The objects or lists at a place, as JSON.
    package func json(at place: MemberPath) -> String? {
        let objects = value.values(at: place).filter { $0.members?.isEmpty == false }
        guard let object = objects.first, let data = try? JSONEncoder().encode(object) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The codes, without repetition: those in words first, as a number is often the status once more.
    package var codes: [String] {
        let found = Self.codePlaces.flatMap { place in
            value.values(at: place).compactMap { value in
                value.text.map { (place == "__type" ? $0.withoutNamespace : $0, value.isNumber) }
            }
        }
        var seen: Set<String> = []
        let all = [codeOfField ?? ""] + (found.filter { !$0.1 } + found.filter(\.1)).map(\.0)
        return all.filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    package var message: String? { Self.messagePlaces.lazy.flatMap { texts(at: $0) }.first }

    package var requestID: String? {
        text(at: "meta.requestId", "requestId", "request_id", "error.requestId", "error.request_id")
    }

    /// The errors in the request, of each form: a list of objects or texts, a map of fields, and FastAPI's `detail`.
    package var details: [ErrorDetail] {
        for place in ["errors", "error.errors", "error.details", "detail"] as [MemberPath] {
            let found = value.values(at: place).flatMap(\.errorDetails)
            if !found.isEmpty { return found }
        }
        // A map alone, as of Django REST framework: each member is a list of texts.
        let isOther = value.members.map { $0.isEmpty || !$0.values.allSatisfy(\.isListOfTexts) } ?? false
        return isOther ? [] : value.errorDetails
    }
}

extension JSONValue {
    /// Reads a form. `nil`: it has no member.
    fileprivate init?(form text: String) {
        let items = text.filter { !$0.isWhitespace }.formItems
        guard !items.isEmpty else { return nil }
        self = .object(Dictionary(items.map { ($0.name, .text($0.value)) }) { first, _ in first })
    }

    fileprivate var isListOfTexts: Bool {
        guard case .list(let list) = self, !list.isEmpty else { return false }
        return list.allSatisfy { if case .text = $0 { true } else { false } }
    }

    fileprivate var errorDetails: [ErrorDetail] {
        switch self {
        case .list(let list): list.compactMap(\.errorDetail)
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { field, value -> [ErrorDetail] in
                let texts = if case .list(let list) = value { list } else { [value] }
                return texts.compactMap(\.text).map { ErrorDetail(field: field, message: $0) }
            }
        case .null, .flag, .number, .text: []
        }
    }

    private var errorDetail: ErrorDetail? {
        if case .text(let text) = self { return ErrorDetail(message: text) }
        guard let members else { return nil }
        func text(_ names: String...) -> String? { names.lazy.compactMap { members[$0]?.text }.first }
        let place = values(at: "loc[]").compactMap(\.text).last ?? values(at: "source.pointer").first?.text
        return ErrorDetail(
            field: text("field", "target", "param") ?? place,
            code: text("code", "errorCode", "errorType", "type", "reason") ?? values(at: "extensions.code").first?.text,
            message: text("message", "msg", "detail", "title"))
    }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .number(let text): try Int64(text).map { try container.encode($0) } ?? container.encode(Double(text) ?? 0)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let members): try container.encode(members)
        }
    }
}

extension String {
    /// The name of an error, without a namespace before `#` and details after `:`, as AWS and Google write them.
    package var withoutNamespace: String {
        let name = split(separator: "#").last ?? self[...]
        return (name.split(separator: ":").first ?? name).trimmingCharacters(in: .whitespaces)
    }
}
