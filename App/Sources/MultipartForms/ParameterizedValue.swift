/// A field value with parameters, such as `form-data; name="image"; filename="me.jpg"` (RFC 9110 §5.6.6).
///
/// Inside quotes a backslash escapes a quote or a backslash and is literal before anything else: browsers send Windows
/// paths unescaped.
package struct ParameterizedValue: Sendable, Hashable {
    /// The text before the first semicolon, trimmed.
    package let value: String
    /// The parameters, by their lower-case names.
    package let parameters: [String: String]

    /// Fails when a parameter has no name or no `=`, occurs twice, or its quotes do not close.
    package init?(_ text: String) {
        var rest = text[...]
        value = rest.take { $0 != ";" }.trimmed()
        var parameters: [String: String] = [:]
        while rest.popFirst() != nil {
            rest = rest.drop(while: \.isBlank)
            guard !rest.isEmpty else { break }
            let name = rest.take { $0 != "=" && $0 != ";" }.trimmed().lowercased()
            guard rest.popFirst() == "=", !name.isEmpty, parameters[name] == nil else { return nil }
            rest = rest.drop(while: \.isBlank)
            guard let value = rest.first == "\"" ? rest.takeQuoted() : rest.take({ $0 != ";" }).trimmed() else {
                return nil
            }
            parameters[name] = value
            rest = rest.drop(while: \.isBlank)
            guard rest.isEmpty || rest.first == ";" else { return nil }
        }
        self.parameters = parameters
    }
}

extension Character {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}

extension Substring {
    fileprivate mutating func take(_ belongs: (Character) -> Bool) -> Substring {
        let taken = prefix(while: belongs)
        self = self[taken.endIndex...]
        return taken
    }

    fileprivate func trimmed() -> String {
        var text = drop(while: \.isBlank)
        while text.last?.isBlank == true { text.removeLast() }
        return String(text)
    }

    /// Removes a quoted string and returns its content; nil when the closing quote is missing.
    fileprivate mutating func takeQuoted() -> String? {
        removeFirst()
        var quoted = ""
        while let character = popFirst() {
            switch character {
            case "\"":
                return quoted
            case "\\" where first == "\"" || first == "\\":
                quoted.append(removeFirst())
            default:
                quoted.append(character)
            }
        }
        return nil
    }
}
