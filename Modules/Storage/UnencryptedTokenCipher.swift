public import Foundation

/// No encryption: a reader of the store reads the tokens.
///
/// For tests, and for a store that is itself encrypted and that only the processes can read. It is never a default, so
/// that a review notices it.
public struct UnencryptedTokenCipher: TokenCipher {
    /// Creates a cipher that does not encrypt.
    public init() {}

    /// Returns the plaintext.
    ///
    /// - Parameters:
    ///   - plaintext: The tokens.
    ///   - associatedData: Not used.
    /// - Returns: The tokens.
    public func seal(_ plaintext: Data, authenticating associatedData: Data) async -> Data { plaintext }

    /// Returns the stored bytes.
    ///
    /// - Parameters:
    ///   - sealed: The tokens.
    ///   - associatedData: Not used.
    /// - Returns: The tokens.
    public func open(_ sealed: Data, authenticating associatedData: Data) async -> Data { sealed }
}
