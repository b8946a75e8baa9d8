public import Foundation

/// The key to which the tokens of a session are bound (DPoP, RFC 9449), and the last nonces of the servers.
///
/// It is stored with the tokens. It holds no secret: the key is in a ``SigningKeyStore``, and a nonce is of no use
/// without it.
public struct TokenBinding: Sendable, Hashable, Codable {
    /// The thumbprint of the key's public half (RFC 7638).
    public let thumbprint: String

    /// The last nonce of each server, by its role and origin as text: `as https://id.example`.
    public let nonces: [String: ProofNonce]

    /// Creates a binding.
    public init(thumbprint: String, nonces: [String: ProofNonce] = [:]) {
        self.thumbprint = thumbprint
        self.nonces = nonces
    }
}

extension TokenBinding: CustomStringConvertible {
    /// The thumbprint, and the servers whose nonces are known.
    public var description: String { "TokenBinding(\(thumbprint), nonces: \(nonces.keys.sorted()))" }
}

/// What a server has said last about the nonce that it wants in proofs (RFC 9449 §8).
public struct ProofNonce: Sendable, Hashable, Codable {
    /// The nonce. `nil`: the server has responded to a proof, and wants none.
    public let value: String?

    /// When it was received, on the clock of the device.
    public let date: Date

    /// How far the server's clock was ahead of the device's then, in seconds.
    public let clockSkew: TimeInterval

    /// Creates a nonce.
    public init(value: String?, date: Date, clockSkew: TimeInterval = 0) {
        self.value = value
        self.date = date
        self.clockSkew = clockSkew
    }
}
