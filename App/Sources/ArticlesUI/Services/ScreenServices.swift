package import AuthInterface
package import DataAPI
package import Foundation

/// What the screens need from the application. Each member is a protocol, so that tests use doubles.
package struct ScreenServices: Sendable {
    package var session: any SessionControl
    package var account: any AccountReading
    package var guests: any GuestRegistration
    package var social: any SocialLogin
    package var upgrades: any GuestUpgrade
    package var identity: any IdentityTokenSource
    package var photos: any PhotoPreparing
    package var articles: any ArticleReading & ArticleWriting

    package init(
        session: any SessionControl,
        account: any AccountReading,
        guests: any GuestRegistration,
        social: any SocialLogin,
        upgrades: any GuestUpgrade,
        identity: any IdentityTokenSource,
        photos: any PhotoPreparing,
        articles: any ArticleReading & ArticleWriting
    ) {
        self.session = session
        self.account = account
        self.guests = guests
        self.social = social
        self.upgrades = upgrades
        self.identity = identity
        self.photos = photos
        self.articles = articles
    }
}

/// The session, as far as screens need it.
package protocol SessionControl: Sendable {
    /// The current state.
    var state: SessionState { get }

    /// The states from now on, the current one first.
    var states: AsyncStream<SessionState> { get }

    /// Ends the session. It has ended even if the call throws.
    func signOut() async throws
}

/// The user of the session.
package protocol AccountReading: Sendable {
    /// Restores the stored session at launch, and asks the server whether it is valid.
    ///
    /// - Throws: When the store cannot be read now; `CancellationError`.
    func launch() async throws -> LaunchOutcome

    /// Fetches the user of the session.
    func me() async throws -> User

    /// Fetches the photo of the user; `nil` for one without a photo.
    func photo(of user: User) async throws -> Data?
}

/// The result of ``AccountReading/launch()``.
package enum LaunchOutcome: Sendable {
    /// The server accepted the session. The user, if the server has said it.
    case signedIn(User?)

    /// There is a session, and the server could not be asked. The user, if it is known.
    case unverified(User?, ScreenError)

    /// No user is signed in, and why.
    case signedOut(SignOutReason)
}
