/// A value that holds a secret, or may: whatever shows it shows its ``description`` and nothing else (G17).
///
/// Printing, string interpolation, `dump`, debuggers and crash reports all end up in one of three protocols. A type
/// that conforms writes a description without the secret, and has the other two from it.
public protocol RedactedDescription: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension RedactedDescription {
    /// The same as the description.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers the description in place of the stored properties.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description], displayStyle: .struct)
    }
}
