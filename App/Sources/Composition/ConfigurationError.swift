/// An invalid configuration. The description is one line that says what to do, without a secret.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// The problem and its solution.
    public let description: String

    /// Whether a flag is invalid, and not the environment or a file.
    public let isUsage: Bool

    init(_ description: String, isUsage: Bool = false) {
        self.description = description
        self.isUsage = isUsage
    }
}
