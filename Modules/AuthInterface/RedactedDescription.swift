import Foundation

/// A value that holds or may hold a secret, and shows its `description` only (G17).
///
/// Printing, string interpolation, `dump`, debuggers and crash reports use one of three protocols. A type that conforms
/// writes a description without the secret; the other two are derived from it.
public protocol RedactedDescription: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension RedactedDescription {
    /// The same as the description.
    public var debugDescription: String { description }

    /// Hides the stored properties from `dump` and debuggers, which show the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}

extension Date {
    /// The date in a description. A store can hold one that is no number, and to format it would stop the process.
    var shown: String { timeIntervalSinceReferenceDate.isFinite ? formatted(.iso8601) : "an unknown time" }
}
