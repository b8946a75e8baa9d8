/// What went wrong, for one type of error.
///
/// The set is open: later versions add codes, and so can an application. A `switch` over codes needs a `default`.
///
/// ```swift
/// extension TokenStoreError.Code {
///     static var offline: Self { Self(rawValue: "offline") }
/// }
/// ```
public struct ErrorCode<Failure>: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The code as text.
    public let rawValue: String

    /// Creates a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The code as text.
    public var description: String { rawValue }
}
