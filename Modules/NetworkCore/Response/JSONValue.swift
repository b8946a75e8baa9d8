/// A value of JSON whose form is not known beforehand.
package indirect enum JSONValue: Decodable, Sendable, Hashable {
    case null
    case flag(Bool)
    case number(String)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let number = try? value.decode(Int64.self) {
            self = .number("\(number)")
        } else if let number = try? value.decode(UInt64.self) {
            self = .number("\(number)")
        } else if let number = try? value.decode(Double.self) {
            self = .number("\(number)")
        } else if let list = try? value.decode([JSONValue].self) {
            self = .list(list)
        } else {
            // A member that cannot be read, such as a text in Latin-1, does not take the others along.
            self = (try? value.decode([String: JSONValue].self)).map(JSONValue.object) ?? .null
        }
    }

    package var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// A text, or a number as text. `nil` for what stands for *none*: an empty text, 0, and every other kind.
    package var text: String? {
        switch self {
        case .text(let text), .number(let text): text.isEmpty || text == "0" ? nil : text
        case .null, .flag, .list, .object: nil
        }
    }

    /// A text or a whole number that names something, as it is written. `nil`: an empty text, or no exact number.
    package var identifier: String? {
        switch self {
        case .text(let text): text.isEmpty ? nil : text
        case .number(let text): text.allSatisfy { $0.isNumber || $0 == "-" } ? text : nil
        case .null, .flag, .list, .object: nil
        }
    }

    package var isNumber: Bool { if case .number = self { true } else { false } }

    /// A Boolean, or what some servers write in its place.
    package var flag: Bool? {
        switch self {
        case .flag(let flag): flag
        case .text(let text), .number(let text): !["false", "0", "no"].contains(text.lowercased())
        case .null, .list, .object: nil
        }
    }

    /// The values that a path leads to, in order.
    package func values(at path: MemberPath) -> [JSONValue] {
        path.steps.reduce([self]) { values, step in
            values.flatMap { value -> [JSONValue] in
                switch (step, value) {
                case (.member(let name), .object(let members)): members[name].map { [$0] } ?? []
                case (.each, .list(let list)): list
                case (.each, .object(let members)): members.sorted { $0.key < $1.key }.map(\.value)
                default: []
                }
            }
        }
    }

    /// Whether the value, or one inside it, is a text with a part, in any case.
    func contains(_ part: String) -> Bool {
        switch self {
        case .text(let text): text.lowercased().contains(part.lowercased())
        case .list(let list): list.contains { $0.contains(part) }
        case .object(let members): members.values.contains { $0.contains(part) }
        case .null, .flag, .number: false
        }
    }
}

extension JSONValue {
    /// The most names that a text lists.
    private static let maximumNames = 20

    /// The names of the members of an object, for the developer of a client whose server gives them other names.
    package static func namesOfMembers(from decoder: any Decoder) -> String? {
        guard let members = try? JSONValue(from: decoder).members else { return nil }
        let names = members.keys.sorted().prefix(maximumNames).map { $0.asIdentifier(withoutQuoting: []) }
        return "the response has no access token, and the members \(names.joined(separator: ", "))"
    }
}

/// Where a value is in a body: names of members separated by dots; `[]` after a name stands for each item of its list,
/// or each member of its object: `error.code`, `errors[].code`, `[].errorCode`.
package struct MemberPath: Sendable, Hashable, ExpressibleByStringLiteral {
    enum Step: Sendable, Hashable {
        case member(String)
        case each
    }

    let steps: [Step]

    /// Reads a path. `nil`: it has an empty name, or brackets elsewhere.
    package init?(_ text: String) {
        var steps: [Step] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            let isList = part.hasSuffix("[]")
            let name = isList ? part.dropLast(2) : part
            guard !name.contains(where: { "[] /*:".contains($0) }), !name.isEmpty || (isList && steps.isEmpty) else {
                return nil
            }
            if !name.isEmpty { steps.append(.member(String(name))) }
            if isList { steps.append(.each) }
        }
        self.steps = steps
    }

    package init(stringLiteral text: String) {
        guard let path = MemberPath(text) else { preconditionFailure("\(text) is no path") }
        self = path
    }

    /// The path without its last name, and that name. `nil`: it ends with brackets.
    package var parentAndName: (parent: MemberPath, name: String)? {
        guard case .member(let name)? = steps.last else { return nil }
        return (MemberPath(steps: Array(steps.dropLast())), name)
    }

    private init(steps: [Step]) { self.steps = steps }
}
