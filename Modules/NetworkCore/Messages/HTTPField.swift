public import AuthInterface

/// One header field: a name and a value (RFC 9110 §5).
///
/// Its syntax is checked when it is made, so a field cannot end early and begin another one.
public struct HTTPField: Sendable, Hashable {
    /// The name, in the case it was written in.
    public let name: String

    /// The value, without white space around it.
    public let value: String

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - name: The name: a token (RFC 9110 §5.6.2).
    ///   - value: The value: no control character but the tab (RFC 9110 §5.5). White space around it is left out.
    /// - Throws: ``HTTPFieldError`` with code `invalidName` or `invalidValue`.
    public init(_ name: String, _ value: String) throws(HTTPFieldError) {
        guard name.isFieldName else { throw HTTPFieldError(.invalidName, field: "") }
        guard value.isFieldValue else { throw HTTPFieldError(.invalidValue, field: name) }
        self.name = name
        self.value = value.withoutSurroundingWhiteSpace
    }
}

extension HTTPField: RedactedDescription {
    /// The name; never the value (G17).
    public var description: String { name }
}
