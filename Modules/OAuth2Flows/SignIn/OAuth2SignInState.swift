#if canImport(CryptoKit) || Crypto
public import AuthInterface
public import Foundation
import NetworkCore

/// A sign-in that has begun and is finished later, maybe in another process: what
/// ``OAuth2CodeSignIn/finish(callback:state:)`` needs of ``OAuth2CodeSignIn/begin(redirectingTo:)``.
///
/// It holds secrets. It belongs to the browser that began: see ``OAuth2CodeSignIn/begin(redirectingTo:)``.
public struct OAuth2SignInState: Codable, Sendable {
    let issuer: String
    let redirectURI: URL
    let state: String
    let verifier: String
    let nonce: String?
    let thumbprint: String?

    /// When the time of the user ends: the lifetime of the cookie or the entry that has the state.
    public let expiresAt: Date

    /// The code in a callback, after all checks.
    func code(in callback: URL, of server: OAuth2Server, at date: Date) throws(OAuth2SignInError) -> String {
        guard issuer.hasSameBytes(as: server.issuer) else {
            throw OAuth2SignInError(.mismatch, reason: "the sign-in began at another server")
        }
        guard date < expiresAt else {
            throw OAuth2SignInError(.expired, reason: "the time between the page and its response is over: begin again")
        }
        guard OAuth2SignInPage.values("state", in: callback) == [state] else {
            let hint = OAuth2SignInPage.refusalWithoutState(in: callback).map { ", or has no state: \($0)" } ?? ""
            throw OAuth2SignInError(.mismatch, reason: "the response belongs to another sign-in\(hint)")
        }
        guard OAuth2SignInPage.isSame(callback, redirectURI) else {
            throw OAuth2SignInError(.mismatch, reason: "the response is not at the redirect URI of the sign-in")
        }
        // RFC 9207 §2.4: the issuer prevents that a code is sent to another server than the one that issued it.
        let issuers = OAuth2SignInPage.values("iss", in: callback)
        let isIssuer = issuers.count == 1 && server.isIssuer(issuers[0])
        guard isIssuer || issuers.isEmpty && !server.namesIssuerInResponses else {
            throw OAuth2SignInError(.mismatch, reason: "the response names another issuer, or none")
        }
        if let error = OAuth2SignInPage.values("error", in: callback).first {
            throw OAuth2SignInError(
                error == "access_denied" ? .denied : .refused, reason: "the server did not sign the user in",
                serverCode: error.asIdentifier(withoutQuoting: [state]))
        }
        let codes = OAuth2SignInPage.values("code", in: callback)
        guard codes.count == 1, let code = codes.first, !code.isEmpty else {
            throw OAuth2SignInError(.invalidResponse, reason: "the response has no code, or several")
        }
        return code
    }
}

extension OAuth2SignInState: RedactedDescription {
    /// The issuer (G17).
    public var description: String { "OAuth2SignInState(\(issuer))" }
}
#endif
