/// Header fields: names compared without regard to case (RFC 9110 §5.1), in the order they were written.
///
/// Descriptions and dumps show names only: a value may be a secret (G17).
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private var fields: [Field] = []

    private struct Field: Sendable, Hashable {
        let name: String
        let value: String
    }

    /// Creates header fields.
    ///
    /// - Parameter elements: Names and values. Of one name given twice, the last value stays.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements {
            self[name] = value
        }
    }

    /// Creates header fields from names and values. Values of one name are combined with a comma (RFC 9110 §5.3).
    ///
    /// - Parameter fields: Names and values.
    public init(_ fields: some Sequence<(String, String)>) {
        for (name, value) in fields {
            self[name] = self[name].map { "\($0), \(value)" } ?? value
        }
    }

    /// The value of a field; `nil` where there is none.
    ///
    /// - Complexity: O(*n*) in the number of fields.
    ///
    /// - Parameter name: The field's name, in any case.
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

    /// The fields' names, in order.
    public var names: [String] { fields.map(\.name) }

    /// Whether there are no fields.
    public var isEmpty: Bool { fields.isEmpty }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names; never a value.
    public var description: String { "[\(names.joined(separator: ", "))]" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension String {
    /// Whether two texts are equal but for the case of ASCII letters, as names in HTTP are.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
