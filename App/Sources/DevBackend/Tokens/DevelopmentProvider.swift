import Crypto
public import Foundation

/// An identity provider for development. It signs what Apple or Kakao would, with a key that is not secret.
///
/// Two instances with the same key agree: the server checks tokens with one, a test or the command line makes them with
/// another.
public struct DevelopmentProvider: Sendable {
    /// The names of this provider. A token's issuer is one of them.
    public static let names = ["apple", "kakao"]

    private let signingKey: Data

    /// Creates a provider with a key of at least 32 bytes (RFC 7518 §3.2).
    public init(signingKey: Data = Data("development provider key, known to all".utf8)) {
        self.signingKey = signingKey
    }

    /// Signs an identity token (a JWT, HS256), as the provider's own sign-in returns it to an app: of one of ``names``.
    /// The same subject signs in as the same user.
    public func token(
        for provider: String, subject: String, name: String, expiresAt: Date = Date(timeIntervalSinceNow: 600)
    ) throws -> String {
        let identity = Identity(
            iss: provider, aud: Identity.audience, sub: subject, name: name,
            exp: Int(expiresAt.timeIntervalSince1970))
        return try signer.sign(identity)
    }

    /// The identity in a token; nil when the token is not this provider's, is for another audience, or has expired.
    func identity(in token: String, provider: String, now: Date) -> Identity? {
        guard let identity: Identity = signer.claims(of: token),
            identity.iss == provider, identity.aud == Identity.audience, !identity.sub.isEmpty,
            now.timeIntervalSince1970 < Double(identity.exp)
        else { return nil }
        return identity
    }

    private var signer: TokenSigner { TokenSigner(key: SymmetricKey(data: signingKey)) }

    struct Identity: Codable {
        static let audience = "latchkey-development"

        let iss: String
        let aud: String
        let sub: String
        let name: String
        let exp: Int
    }
}
