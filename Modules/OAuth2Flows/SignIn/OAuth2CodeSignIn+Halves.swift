#if canImport(CryptoKit) || Crypto
public import AuthInterface
import ConcurrencyPrimitives
public import Foundation

/// A sign-in whose callback arrives in another request, process or host than the one that began it.
extension OAuth2CodeSignIn {
    /// Begins a sign-in: returns the URL of its page, to which the browser is redirected at once, and the state for
    /// ``finish(callback:state:)``.
    ///
    /// **Bind the state to the browser that began**: keep it in that browser's session, or in a cookie that is sealed
    /// and `HttpOnly`. Never look it up by the callback's `state` parameter: an attacker could begin, sign in as
    /// themselves, and make a user's browser open the callback, which would connect the attacker's account to the user
    /// (RFC 9700 §4.7).
    ///
    /// With a ``prover``, the key of the session is made here. It stays if the sign-in is not finished.
    ///
    /// - Throws: ``OAuth2SignInError``, and no key is kept; `CancellationError`.
    public func begin(redirectingTo redirectURI: URL) async throws -> (url: URL, state: OAuth2SignInState) {
        try await DPoPTokenCall.withNewKey(of: prover) { key in
            let page = try page(key)
            let expiry = clock.date + maximumDuration / .seconds(1)
            return (try await page.url(redirectingTo: redirectURI), page.state(redirectURI, expiresAt: expiry))
        }
    }

    /// Finishes a sign-in: checks the state, the issuer (RFC 9207) and the time, exchanges the code, and checks the id
    /// token.
    ///
    /// Server, client, scope and targets are those of ``begin(redirectingTo:)``, and so is the key store of the
    /// ``prover``. Remove the state from its place first: it is used once. The server refuses a code that it has seen,
    /// and may revoke the tokens that it issued for it.
    ///
    /// - Parameters:
    ///   - callback: The redirect URI with the query of the request. Behind a proxy, which changes scheme and host, it
    ///     is built of these two.
    ///   - state: The state of the browser that sent the callback.
    /// - Returns: The tokens, for `signIn(_:)` of a session, and who has signed in; `nil`: `openid` is not in the
    ///   scope.
    /// - Throws: ``OAuth2SignInError``: with code `mismatch` or `expired`, nothing was exchanged; with `unavailable`
    ///   and a `SigningKeyError` as its cause, the key of the state is not here. `CancellationError`.
    public func finish(
        callback: URL, state: OAuth2SignInState
    ) async throws -> (tokens: TokenRefreshResult, idToken: IDToken?) {
        let code = try state.code(in: callback, of: server, at: clock.date)
        let key = try await key(of: state)
        try await key?.keep()
        let issued = try await tokens(for: code, state, key)
        let tokens = try issued.tokensOfSignIn(of: client, boundBy: key)
        let idToken = try await idTokens.idToken(of: issued, scope: scope, nonce: state.nonce)
        return (tokens.ofSignIn(asking: scope, idToken), idToken)
    }

    private func key(of state: OAuth2SignInState) async throws -> DPoPTokenCall? {
        do {
            return try await DPoPTokenCall.key(
                of: state.thumbprint.map { TokenBinding(thumbprint: $0) }, prover, setIn: "sign-in")
        } catch let error as SigningKeyError {
            throw OAuth2SignInError(
                .unavailable, reason: "the key that begin made is not here: share its key store, or begin again",
                cause: error)
        }
    }
}
#endif
