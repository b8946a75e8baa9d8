package import AuthInterface
package import DataAPI
package import Foundation

/// What the screens need from the application. Each member is a protocol, so that tests use doubles.
package struct ScreenServices: Sendable {
    package var session: any SessionControl
    package var account: any AccountReading
    package var logins: any SigningIn
    package var identity: any IdentityTokenSource
    package var photos: any PhotoPreparing
    package var articles: any ArticleAccess

    package init(
        session: any SessionControl, account: any AccountReading, logins: any SigningIn,
        identity: any IdentityTokenSource, photos: any PhotoPreparing, articles: any ArticleAccess
    ) {
        self.session = session
        self.account = account
        self.logins = logins
        self.identity = identity
        self.photos = photos
        self.articles = articles
    }
}

package protocol SessionControl: Sendable {
    var state: SessionState { get }

    /// The states from now on, the current one first.
    var states: AsyncStream<SessionState> { get }

    /// Ends the session. It has ended even if the call throws.
    func signOut() async throws
}

package protocol AccountReading: Sendable {
    /// Restores the stored session at launch, and asks the server whether it is valid.
    ///
    /// - Throws: When the store cannot be read now; `CancellationError`.
    func launch() async throws -> AutoLogin

    func me() async throws -> User

    /// Fetches the photo of the user; `nil` for one without a photo.
    func photo(of user: User) async throws -> Data?
}

package protocol SigningIn: Sendable {
    /// Registers a guest with a prepared photo, and signs it in. `progress` is called on any thread with the uploaded
    /// part, from 0 to 1. The result is `nil` when the server does not name the guest, and has signed it in.
    func registerGuest(
        name: String, photo: Data, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> User?

    /// - Returns: The user; `nil`: the server does not name the user, and has signed them in.
    func signIn(_ provider: SocialProvider, token: String) async throws -> User?

    /// Makes the guest of the session the owner of an account at an identity provider.
    ///
    /// - Returns: The user, who stays the same.
    /// - Throws: ``ScreenError``, with status 409 when the account or the user is in use already; `CancellationError`.
    func upgrade(_ provider: SocialProvider, token: String) async throws -> User
}

/// Prepares a picked photo for the upload: size, orientation, metadata.
package protocol PhotoPreparing: Sendable {
    /// - Throws: ``ScreenError`` that says what is wrong with the photo.
    func prepare(_ photo: Data) async throws -> Data
}

/// Obtains the token of an identity provider, from a sheet of the system or of the provider.
package protocol IdentityTokenSource: Sendable {
    /// - Throws: `CancellationError` when the user closes the sheet.
    func token(for provider: SocialProvider) async throws -> String
}

package protocol ArticleAccess: Sendable {
    /// Fetches a page of the list, newest first.
    func page(after cursor: Article.Cursor?, limit: Int) async throws -> Page<Article>

    /// The first page as the session has last read it, newest first, without contact to the server; none if it is not
    /// stored. One session never gets that of another one.
    func storedPage(of session: SessionID, limit: Int) async -> [Article]

    func article(_ id: Article.ID) async throws -> Article

    /// Creates an article. With a key that the server has seen, it returns the article of the first call. When it
    /// throws, the article may have been created.
    func create(_ draft: ArticleDraft, key: String) async throws -> Article
}
