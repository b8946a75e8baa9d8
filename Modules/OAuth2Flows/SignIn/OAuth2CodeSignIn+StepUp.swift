#if canImport(CryptoKit) || Crypto
public import AuthInterface
import Foundation
import NetworkCore

/// The sign-in that a server demands of a user who is signed in (RFC 9470, G32).
extension OAuth2CodeSignIn {
    /// Signs the user in again as a call demands it, and passes the tokens to `stepUp(_:)` of the session. Cancel the
    /// task to give up.
    ///
    /// ```swift
    /// guard let challenge = error.stepUp else { throw error }
    /// try await signIn.stepUp(session, for: challenge, with: userAgent)
    /// // Then the call is sent again: nothing sends it for you.
    /// ```
    ///
    /// The page asks for the classes of authentication, the age and the claims of the challenge, and for its scope
    /// beside that of the sign-in. The session goes on if both are known to be of the same user, for which the scope
    /// needs `openid`. Otherwise this is a sign-in like any other. The response must have a refresh token: where the
    /// server wants to be asked for one, the scope needs `offline_access` too.
    ///
    /// Tokens that are bound to a key (DPoP) are bound to that of the session, as its refresh token is. A session that
    /// gets no token without the user, or whose key is not here, gets a new key.
    ///
    /// - Returns: Who has signed in, when (``IDToken/authenticatedAt``) and how (``IDToken/authenticationContext``).
    ///   `nil`: `openid` is not in the scope.
    /// - Throws: ``OAuth2SignInError``, with code `invalidResponse` where the response has no refresh token; the errors
    ///   of `token()` and `stepUp(_:)` of the session; `CancellationError`. The session stays as it is.
    @discardableResult
    public func stepUp(
        _ session: any AuthSession & TokenProvider, for challenge: StepUpChallenge,
        with userAgent: any OAuth2UserAgent
    ) async throws -> IDToken? {
        let signIn = asking(for: challenge)
        let (tokens, idToken, key) = try await signIn.tokens(ofStepUp: session, with: userAgent)
        guard tokens.bringsRefreshToken else {
            throw OAuth2SignInError(
                .invalidResponse, reason: "a step-up needs a refresh token; add offline_access to the scope")
        }
        // The session may have ended meanwhile, and its key with it.
        try await key?.keep()
        try await session.stepUp(tokens)
        return idToken
    }

    private func tokens(
        ofStepUp session: any TokenProvider, with userAgent: any OAuth2UserAgent
    ) async throws -> (TokenRefreshResult, IDToken?, DPoPTokenCall?) {
        let key: DPoPTokenCall?
        do {
            key = try await DPoPTokenCall.key(of: session.token().binding, prover, setIn: "sign-in")
        } catch  where (error as? AuthenticationError)?.code == .stepUpRequired || error is SigningKeyError {
            return try await DPoPTokenCall.withNewKey(of: prover) { key in
                let (tokens, idToken) = try await self.tokens(with: userAgent, key)
                return (tokens, idToken, key)
            }
        }
        let (tokens, idToken) = try await tokens(with: userAgent, key)
        return (tokens, idToken, key)
    }

    /// The same sign-in, whose page asks for what a challenge demands (RFC 9470 §4).
    private func asking(for challenge: StepUpChallenge) -> OAuth2CodeSignIn {
        var signIn = self
        // A server may count the tokens of both as one session.
        signIn.idTokens.revocation = nil
        let own = scope?.split(separator: " ") ?? []
        let more = challenge.scope?.split(separator: " ").filter { !own.contains($0) } ?? []
        if !more.isEmpty { signIn.scope = (own + more).joined(separator: " ") }
        signIn.demanded.append("acr_values", challenge.acrValues, separatedBy: " ")
        signIn.demanded.append("max_age", challenge.maxAge?.components.seconds)
        signIn.demanded.append("claims", challenge.claims.map(Self.object(ofClaims:)))
        return signIn
    }

    /// The claims as an authorization request has them: JSON (OpenID Connect Core §5.5), also where the challenge has
    /// them in Base64, as Microsoft's does.
    private static func object(ofClaims text: String) -> String {
        guard !text.hasPrefix("{"), let data = Data(base64Encoded: text) ?? Data(base64URL: text),
            let object = String(data: data, encoding: .utf8), object.hasPrefix("{")
        else { return text }
        return object
    }
}
#endif
