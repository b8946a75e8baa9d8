public import protocol Foundation.LocalizedError

/// Keeps the tokens of one session across launches.
///
/// A read has three results (G14): a bundle; *none*, which must be certain; or an error, which means that the content
/// is not known now and which signs no user out. A locked Keychain, an absent keyring, an unreadable file and a disk
/// that is not mounted are errors, never *none*.
///
/// A store that only one process uses needs these three calls. A store that several processes share conforms to
/// ``SharedTokenStore``. Run the contract suite of `AuthTesting` against every implementation.
public protocol TokenStore: Sendable {
    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if it is certain that none is stored.
    /// - Throws: ``TokenStoreError`` in most cases. Any error counts as *unavailable now*: it signs no user out and
    ///   deletes nothing.
    func load() async throws -> TokenBundle?

    /// Stores a bundle. It replaces the stored one.
    ///
    /// A process killed at any instant leaves the old bundle or the new one, whole (G12).
    ///
    /// - Throws: ``TokenStoreError`` in most cases; the stored content is then unchanged.
    func save(_ bundle: TokenBundle) async throws

    /// Removes the stored bundle. An empty store is no error.
    ///
    /// - Throws: ``TokenStoreError`` in most cases; the stored content is then unchanged.
    func delete() async throws
}

/// Why a store could not be read or written. An error never means that the store is empty (G14).
public struct TokenStoreError: Error, Sendable {
    /// What went wrong.
    public typealias Code = ErrorCode<TokenStoreError>

    /// What went wrong.
    public let code: Code

    /// What happened and how to fix it, in one line without a secret.
    public let reason: String

    /// The error that caused this one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, reason: String, cause: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }
}

extension ErrorCode<TokenStoreError> {
    /// The store cannot be used now: it is locked, absent, full or unreadable.
    public static var unavailable: Self { Self(rawValue: "unavailable") }

    /// Another process holds the shared store and did not release it in time.
    public static var busy: Self { Self(rawValue: "busy") }

    /// What is stored cannot be read as a bundle.
    public static var corrupt: Self { Self(rawValue: "corrupt") }

    /// What is stored was written by a later version.
    public static var unsupportedVersion: Self { Self(rawValue: "unsupportedVersion") }

    /// Other users could read or replace what is stored.
    public static var insecure: Self { Self(rawValue: "insecure") }

    /// A later bundle of the same session is stored. Load the store again and continue with that one.
    public static var superseded: Self { Self(rawValue: "superseded") }
}

extension TokenStoreError: Hashable {
    /// Compares the code and the reason; causes are not compared.
    public static func == (first: TokenStoreError, second: TokenStoreError) -> Bool {
        first.code == second.code && first.reason == second.reason
    }

    /// Hashes the code and the reason.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(reason)
    }
}

extension TokenStoreError: RedactedDescription {
    /// One line without a secret.
    public var description: String { "token store \(code): \(reason)" }
}

extension TokenStoreError: LocalizedError {
    /// A sentence for the user of an application.
    public var errorDescription: String? { "The stored sign-in cannot be used." }

    /// What the user can do.
    public var recoverySuggestion: String? { code == .unavailable || code == .busy ? "Try again later." : nil }
}
