public import Foundation
import JWTKit

/// The identity provider of the development world: it signs what Apple or Kakao would, with a key anybody may know.
///
/// Both sides hold one of these with the same key: the server to check a token, a test or the command line to make one.
public struct DevelopmentProvider: Sendable {
    /// The names this provider goes by. A token names one of them as its issuer.
    public static let names = ["apple", "kakao"]

    private let signingKey: Data

    /// A provider with a key.
    ///
    /// - Parameter signingKey: at least 32 bytes, as HS256 demands (RFC 7518 §3.2); a shorter one is padded with zeros.
    public init(signingKey: Data = Data("development provider key, known to all".utf8)) {
        self.signingKey = signingKey + Data(repeating: 0, count: max(0, 32 - signingKey.count))
    }

    /// Signs an identity token, as the provider's own sign-in would hand it to an app.
    ///
    /// - Parameters:
    ///   - provider: one of `names`.
    ///   - subject: the provider's identifier of the user; the same subject signs in as the same user.
    ///   - name: the user's name.
    ///   - expiresAt: from when on the token is no longer accepted; whole seconds count.
    /// - Returns: a JWT (HS256).
    /// - Throws: `JWTError` when signing fails.
    public func token(
        for provider: String, subject: String, name: String, expiresAt: Date = Date(timeIntervalSinceNow: 600)
    ) async throws -> String {
        let identity = ProviderIdentity(
            iss: provider, aud: ProviderIdentity.audience, sub: subject, name: name,
            exp: Int(expiresAt.timeIntervalSince1970))
        return try await keys().sign(identity)
    }

    /// Who a token is about; nil when it is not this provider's, for another audience, or expired.
    func identity(in token: String, provider: String, now: Date) async -> ProviderIdentity? {
        guard
            let identity = try? await keys().verify(token, as: ProviderIdentity.self),
            identity.iss == provider, identity.aud == ProviderIdentity.audience, !identity.sub.isEmpty,
            now.timeIntervalSince1970 < Double(identity.exp)
        else { return nil }
        return identity
    }

    private func keys() async -> JWTKeyCollection {
        await JWTKeyCollection().add(hmac: HMACKey(from: signingKey), digestAlgorithm: .sha256)
    }
}

/// The claims of an identity token.
struct ProviderIdentity: JWTPayload {
    static let audience = "latchkey-development"

    let iss: String
    let aud: String
    let sub: String
    let name: String
    let exp: Int

    /// Nothing to check here: expiry depends on the server's clock, which a payload cannot see.
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}
