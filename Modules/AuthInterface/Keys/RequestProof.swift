public import Foundation

/// Proves with each request that its sender has the key to which the session's tokens are bound (DPoP, RFC 9449).
///
/// An HTTP client asks for the fields of each attempt and of each hop of a redirect, because a proof is valid once and
/// for one URL, and passes every response on: it may bring the nonce for the next proof. It is a class, because it
/// keeps the nonces.
public protocol RequestProof: AnyObject, Sendable {
    /// Makes the proof of one request: header fields by name, which are used once. The token that it carries has a
    /// ``SessionToken/binding``, and may be sent to the URL.
    ///
    /// - Throws: ``TokenStoreError`` when the key cannot be used now; ``SigningKeyError`` when it no longer exists: the
    ///   session's refresh then ends the session; `CancellationError`.
    func fields(method: String, url: URL, token: SessionToken) async throws -> [String: String]

    /// Notes a response to a request with a proof: its field `DPoP-Nonce`, in a success as well as in a challenge, and
    /// its field `Date`. `nil`: it has none.
    func received(nonce: String?, serverDate: Date?, from url: URL, for token: SessionToken)
}

/// The key to which tokens are bound no longer exists, for certain. The tokens are of no use.
public struct SigningKeyError: Error, Sendable, Hashable {
    /// The thumbprint of the key.
    public let thumbprint: String

    /// Creates an error.
    public init(thumbprint: String) { self.thumbprint = thumbprint }
}

extension SigningKeyError: CustomStringConvertible {
    /// One line that says what to do.
    public var description: String {
        "the key \(thumbprint) of the session no longer exists; sign in again, which makes another key"
    }
}
