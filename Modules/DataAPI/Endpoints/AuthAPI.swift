public import Foundation
public import NetworkCore

// The calls that begin, renew and end sessions. None of them needs an access token: they are how a client obtains one,
// and it must be able to sign out with an expired one.

extension Endpoint where Response == SignedIn {
    /// Signs in a new guest (row F1).
    ///
    /// - Parameters:
    ///   - name: The display name of the guest.
    ///   - photo: The guest's picture: a JPEG of at most 5 MB. `Imaging` makes one of any photo.
    /// - Returns: The endpoint.
    public static func registerGuest(name: String, photo: Data) -> Self {
        var form = MultipartForm()
        form.append("name", name)
        form.append("image", data: photo, filename: "photo.jpg", contentType: "image/jpeg")
        return .post("auth/guest/register", body: .multipart(form)).unauthenticatedTokens()
    }

    /// Signs in a user of an identity provider (row F2).
    ///
    /// - Parameters:
    ///   - provider: The identity provider.
    ///   - token: The provider's token. It goes into the body and nowhere else.
    /// - Returns: The endpoint.
    public static func socialLogin(_ provider: SocialProvider, token: String) -> Self {
        .post("auth/social/login", json: SocialLoginBody(provider: provider, token: token)).unauthenticatedTokens()
    }
}

extension Endpoint where Response == IssuedTokens {
    /// Exchanges a refresh token for new tokens. `RESTTokenRefreshHandler` makes this call; nothing else should.
    ///
    /// It is not idempotent for a retry policy, which therefore never sends it twice: a server that rotates refresh
    /// tokens would take the second call for a theft.
    ///
    /// - Parameters:
    ///   - refreshToken: The refresh token.
    ///   - accessToken: The access token that is replaced, for a server that wants both in the body.
    /// - Returns: The endpoint.
    public static func refresh(_ refreshToken: String, accessToken: String? = nil) -> Self {
        .post("auth/refresh", json: RefreshBody(refreshToken: refreshToken, accessToken: accessToken))
            .unauthenticatedTokens()
    }
}

extension Endpoint where Response == Void {
    /// Tells the server that a session is over. A refresh token that is dead already is no error.
    ///
    /// - Parameter refreshToken: The session's refresh token.
    /// - Returns: The endpoint.
    public static func logout(refreshToken: String) -> Self {
        .post("auth/logout", json: RefreshBody(refreshToken: refreshToken)).withoutAuthentication()
    }
}

extension Endpoint where Response == User {
    /// Who the session's user is.
    public static var me: Self { .get("users/me") }
}

extension Endpoint where Response == SignedIn {
    fileprivate func unauthenticatedTokens() -> Self {
        withoutAuthentication().format(.envelope).map { signedIn, head in
            SignedIn(user: signedIn.user, tokens: signedIn.tokens.issued(at: head.serverDate))
        }
    }
}

extension Endpoint where Response == IssuedTokens {
    fileprivate func unauthenticatedTokens() -> Self {
        withoutAuthentication().format(.envelope).map { tokens, head in tokens.issued(at: head.serverDate) }
    }
}

private struct SocialLoginBody: Encodable, Sendable {
    let provider: SocialProvider
    let token: String
}

private struct RefreshBody: Encodable, Sendable {
    let refreshToken: String
    var accessToken: String?
}
