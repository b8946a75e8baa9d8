public import AuthInterface
import Foundation

/// Header fields: an ordered collection in which a name may recur, compared without regard to case (RFC 9110 §5.1).
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// try headers.append("Via", "1.1 a")
/// try headers.append("Via", "1.1 b")
/// headers["via"]              // "1.1 a, 1.1 b"
/// headers.values(of: "via")   // ["1.1 a", "1.1 b"]
/// ```
///
/// A field is added in O(1), and found, replaced or removed in O(*n*), in the number of fields. Its syntax is checked
/// when it is added. ``append(_:_:)`` and ``set(_:to:)`` throw; a literal and the subscript cannot, so they leave an
/// invalid field out and keep the error, and a request with such headers is not sent.
///
/// Descriptions and dumps show names only: a value may be a secret (G17). `NIOHTTP1` has a type of the same name: write
/// `NetworkCore.HTTPHeaders` where a file imports both.
public struct HTTPHeaders: Sendable, Hashable {
    private var fields: [HTTPField] = []

    /// Why a field was left out, where one was.
    private(set) var problem: HTTPFieldError?

    /// Creates headers without fields.
    public init() {}

    /// Creates headers from names and values in order. A name may occur more than once. An invalid field is left out.
    public init(_ fields: some Sequence<(String, String)>) {
        for (name, value) in fields { appendIfValid(name, value) }
    }

    /// Adds a field after the others. An invalid one is left out.
    package mutating func appendIfValid(_ name: String, _ value: String) {
        do { try append(name, value) } catch { problem = problem ?? error }
    }

    /// The value of a field; `nil` where there is none. Values of a repeated name are joined with a comma, as RFC 9110
    /// §5.3 allows; for `Set-Cookie`, whose values may hold commas, use ``values(of:)``.
    ///
    /// Setting replaces all fields of that name with one, `nil` removes them. An invalid field is left out.
    public subscript(name: String) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            do { try set(name, to: newValue) } catch { problem = problem ?? error }
        }
    }

    /// All values of a field, in order and not joined.
    public func values(of name: String) -> [String] {
        fields.compactMap { $0.name.equalsIgnoringASCIICase(name) ? $0.value : nil }
    }

    /// The value of the first field of a name; `nil` where there is none.
    package func first(of name: String) -> String? { index(of: name).map { fields[$0].value } }

    private func index(of name: String) -> Int? { fields.firstIndex { $0.name.equalsIgnoringASCIICase(name) } }

    /// Adds a field after the others, also beside one of the same name.
    ///
    /// - Throws: ``HTTPFieldError`` when the name or the value is invalid; nothing is added.
    public mutating func append(_ name: String, _ value: String) throws(HTTPFieldError) {
        fields.append(try HTTPField(name, value))
    }

    /// Replaces all fields of a name with one, in the place of the first; `nil` removes them.
    ///
    /// - Throws: ``HTTPFieldError`` when the name or the value is invalid; nothing is changed.
    public mutating func set(_ name: String, to value: String?) throws(HTTPFieldError) {
        guard let value else { return remove(name) }
        guard let index = index(of: name) else { return try append(name, value) }
        let field = try HTTPField(fields[index].name, value)
        remove(name)
        fields.insert(field, at: index)
    }

    /// Removes all fields of a name.
    public mutating func remove(_ name: String) { fields.removeAll { $0.name.equalsIgnoringASCIICase(name) } }

    package mutating func removeAll(where isSelected: (HTTPField) -> Bool) { fields.removeAll(where: isSelected) }

    /// The names in order, a repeated one once, in the case it was first written in.
    public var names: [String] {
        var seen: Set<String> = []
        return fields.compactMap { seen.insert($0.name.lowercased()).inserted ? $0.name : nil }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }

    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }

    /// The field at a position.
    public subscript(position: Int) -> HTTPField { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates headers. Of one name given twice, the last value stays. An invalid field is left out.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }
}

extension HTTPHeaders: RedactedDescription {
    /// The names; never a value.
    public var description: String { "[\(names.joined(separator: ", "))]" }
}

/// One header field: a name and a value (RFC 9110 §5).
///
/// Its syntax is checked when it is made, so a field cannot end early and begin another one.
public struct HTTPField: Sendable, Hashable {
    /// The name, in the case it was written in.
    public let name: String

    /// The value, without white space around it.
    public let value: String

    /// Creates a field. Its name is a token (RFC 9110 §5.6.2), and its value has no control character but the tab
    /// (§5.5). White space around the value is left out.
    ///
    /// - Throws: ``HTTPFieldError`` with code `invalidName` or `invalidValue`.
    public init(_ name: String, _ value: String) throws(HTTPFieldError) {
        guard name.isFieldName else { throw HTTPFieldError(code: .invalidName, field: "") }
        guard value.isFieldValue else { throw HTTPFieldError(code: .invalidValue, field: name) }
        self.name = name
        self.value = value.withoutSurroundingWhiteSpace
    }
}

extension HTTPField: RedactedDescription {
    /// The name; never the value (G17).
    public var description: String { name }
}

extension String {
    /// Whether the text can be a field's name or a method: a token of RFC 9110 §5.6.2.
    package var isFieldName: Bool { !isEmpty && utf8.allSatisfy { $0.isTokenByte } }

    /// Whether the text can be a field's value: no control characters but the tab (RFC 9110 §5.5).
    package var isFieldValue: Bool { utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) } }

    /// The text without spaces and tabs at its ends (RFC 9110 §5.6.3).
    package var withoutSurroundingWhiteSpace: String {
        guard utf8.first?.isBlank == true || utf8.last?.isBlank == true else { return self }
        return trimmingCharacters(in: [" ", "\t"])
    }

    /// Whether the text is one of some, but for the case of ASCII letters.
    package func isOne(of texts: some Sequence<String>) -> Bool { texts.contains { $0.equalsIgnoringASCIICase(self) } }

    /// Whether two texts are equal but for the case of ASCII letters, as names in HTTP are.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    /// Whether the byte may stand in a token (RFC 9110 §5.6.2).
    var isTokenByte: Bool { isLetter || isDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// A letter of ASCII.
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// A space or a tab (RFC 9110 §5.6.3).
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
