public import AuthInterface

/// Header fields in the order in which they were added. The case of names is ignored (RFC 9110 §5.1).
///
/// Descriptions and dumps show names only, because a value may be a secret (G17).
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private var fields: [Field] = []

    private struct Field: Sendable, Hashable {
        let name: String
        let value: String
    }

    /// Creates header fields.
    ///
    /// - Parameter elements: Names and values. If a name occurs twice, the last value is kept.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements {
            self[name] = value
        }
    }

    /// Creates header fields from names and values. Values of the same name are joined with a comma (RFC 9110 §5.3).
    ///
    /// - Parameter fields: Names and values.
    public init(_ fields: some Sequence<(String, String)>) {
        for (name, value) in fields {
            self[name] = self[name].map { "\($0), \(value)" } ?? value
        }
    }

    /// The value of a field. `nil`: there is no such field.
    ///
    /// - Complexity: O(*n*) in the number of fields.
    ///
    /// - Parameter name: The name of the field, in any case.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.equalsIgnoringASCIICase(name) }?.value }
        set {
            let index = fields.firstIndex { $0.name.equalsIgnoringASCIICase(name) }
            switch (index, newValue) {
            case (let index?, let value?): fields[index] = Field(name: fields[index].name, value: value)
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append(Field(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The names of the fields, in order.
    public var names: [String] { fields.map(\.name) }

    /// Whether there are no fields.
    public var isEmpty: Bool { fields.isEmpty }
}

extension HTTPHeaders: RedactedDescription {
    /// The names, never a value.
    public var description: String { "[\(names.joined(separator: ", "))]" }
}
