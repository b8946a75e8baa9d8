public import Foundation
public import NetworkCore

// The calls that start, refresh and end sessions, and those about the user. The former need no access token: a login
// obtains one, and a client must be able to sign out with an expired one.

extension Endpoint where Response == SignedIn {
    /// Registers a guest and signs it in. The photo is a JPEG of at most 5 MB: `Imaging` makes one from any photo.
    public static func registerGuest(name: String, photo: Data) -> Self {
        var form = MultipartForm()
        form.append("name", name)
        form.append("image", data: photo, filename: "photo.jpg", contentType: "image/jpeg")
        return .post("auth/guest/register", body: .multipart(form)).issuingTokens()
    }

    /// Signs in with the token of an identity provider, which is sent in the body.
    public static func socialLogin(_ provider: SocialProvider, token: String) -> Self {
        .post("auth/social/login", json: SocialLoginBody(provider: provider, token: token)).issuingTokens()
    }
}

extension Endpoint where Response == IssuedTokens {
    /// Exchanges a refresh token for new tokens. Only ``RESTTokenRefreshHandler`` should make this call.
    ///
    /// A retry policy does not repeat it: a server that rotates refresh tokens treats a second call as theft. The
    /// refresh token is `nil` for a server that reads it from a header field. The access token that is replaced is for
    /// a server that needs both in the body.
    public static func refresh(
        _ refreshToken: String?, accessToken: String? = nil, dialect: RESTTokenDialect = .standard
    ) -> Self {
        var body: [String: String] = [:]
        body[dialect.refreshTokenName] = refreshToken
        body[dialect.accessTokenName] = accessToken
        return .post(dialect.refreshPath, json: body).issuingTokens().map { tokens, _ in tokens.reading(dialect.dates) }
    }
}

extension Endpoint where Response == Void {
    /// Ends a session at the server. A refresh token that is no longer valid is not an error.
    public static func logout(refreshToken: String, dialect: RESTTokenDialect = .standard) -> Self {
        .post(dialect.logoutPath, json: [dialect.refreshTokenName: refreshToken]).asTokenCall().hiding([refreshToken])
    }
}

extension Endpoint where Response == User {
    /// The user of the session.
    public static var me: Self { .get("users/me") }

    /// Makes the guest of the session a full account, with the same user, articles and tokens. The call has an
    /// idempotency key: sent again, it has the same result.
    public static func upgradeGuest(_ provider: SocialProvider, token: String) -> Self {
        .post("auth/guest/upgrade", json: SocialLoginBody(provider: provider, token: token)).idempotent()
            .redirects(.refuse)
    }
}

extension Endpoint where Response == Data {
    /// An uploaded file, such as a user's picture.
    public static func file(_ key: FileKey) -> Self { .get("files/\(key)") }
}

extension Endpoint where Response == SignedIn {
    fileprivate func issuingTokens() -> Self {
        asTokenCall().map { signedIn, head in
            SignedIn(user: signedIn.user, tokens: signedIn.tokens.issued(at: head.serverDate))
        }
    }
}

extension Endpoint where Response == IssuedTokens {
    fileprivate func issuingTokens() -> Self {
        asTokenCall().map { tokens, head in tokens.issued(at: head.serverDate) }
    }
}

private struct SocialLoginBody: Encodable, Sendable {
    let provider: SocialProvider
    let token: String
}
