/// Why a store could not answer, or not write. None of it means that nobody is signed in.
public struct TokenStoreError: Error, Sendable {
    /// What went wrong.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The code as text.
        public let rawValue: String

        /// Creates a code.
        ///
        /// - Parameter rawValue: The code as text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The store cannot be used now: locked, absent, out of space, not readable.
        public static let unavailable = Code(rawValue: "unavailable")

        /// Another process holds the shared store and did not let go in time.
        public static let busy = Code(rawValue: "busy")

        /// What is stored cannot be read as a bundle.
        public static let corrupt = Code(rawValue: "corrupt")

        /// What is stored was written by a newer version.
        public static let unsupportedVersion = Code(rawValue: "unsupportedVersion")

        /// Others could read or replace what is stored.
        public static let insecure = Code(rawValue: "insecure")

        /// A later bundle of the same session is stored already. Load it and go on with it.
        public static let superseded = Code(rawValue: "superseded")

        /// The code as text.
        public var description: String { rawValue }
    }

    /// What went wrong.
    public let code: Code

    /// What happened and how to mend it, in one line without a secret.
    public let reason: String

    /// The error underneath.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - reason: What happened and how to mend it, without a secret.
    ///   - cause: The error underneath.
    public init(_ code: Code, reason: String, cause: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }
}

extension TokenStoreError: Hashable {
    /// Compares the code and the reason; causes are not compared.
    public static func == (first: TokenStoreError, second: TokenStoreError) -> Bool {
        first.code == second.code && first.reason == second.reason
    }

    /// Feeds the code and the reason.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(reason)
    }
}

extension TokenStoreError: RedactedDescription {
    /// One line without a secret.
    public var description: String { "token store \(code): \(reason)" }
}
