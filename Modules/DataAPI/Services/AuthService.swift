public import AuthInterface
public import Foundation
public import NetworkCore

/// Signs users in and out.
///
/// Logins are sent without tokens, and ``me()`` with them, so the service has two network services.
public struct AuthService: Sendable {
    private let unauthenticated: any UnauthenticatedNetworkService
    private let network: any NetworkService
    private let session: any AuthSession

    /// Creates the service of a session. One client sends calls without tokens, the other one with them.
    public init(
        unauthenticated: any UnauthenticatedNetworkService, network: any NetworkService, session: any AuthSession
    ) {
        self.unauthenticated = unauthenticated
        self.network = network
        self.session = session
    }

    /// Registers a guest with a JPEG of at most 5 MB, and signs it in. The closure is called with the progress of the
    /// upload. Where the response has tokens and no user, ``me()`` is asked; `nil`: the server has none to give.
    ///
    /// - Throws: `NetworkError`; `AuthenticationError` when the tokens of the server cannot be used. An earlier session
    ///   stays.
    @discardableResult
    public func registerGuest(name: String, photo: Data, progress: ProgressHandler? = nil) async throws -> User? {
        try await start(with: .registerGuest(name: name, photo: photo), progress: progress)
    }

    /// Signs in with the token of an identity provider. Returns the user as ``registerGuest(name:photo:progress:)``.
    ///
    /// - Throws: The errors of ``registerGuest(name:photo:progress:)``.
    @discardableResult
    public func socialLogin(_ provider: SocialProvider, token: String) async throws -> User? {
        try await start(with: .socialLogin(provider, token: token))
    }

    /// Signs out. The session has ended even if the call throws.
    ///
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the tokens are not deleted from the store yet.
    public func logout() async throws { try await session.signOut() }

    /// Fetches the user of the session.
    ///
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func me() async throws -> User { try await network.send(.me) }

    /// Makes the guest of the session a full account. Its user, articles and session stay.
    ///
    /// - Throws: `NetworkError`: with status 409 if the identity or the account is in use already. The session stays.
    ///   `CancellationError`.
    @discardableResult
    public func upgradeGuest(_ provider: SocialProvider, token: String) async throws -> User {
        do {
            return try await network.send(.upgradeGuest(provider, token: token))
        } catch let error as NetworkError {
            throw error.withoutQuoting([token])
        }
    }

    /// Restores the stored session at launch, refreshes it, and fetches its user.
    ///
    /// A refresh is all that the main screen needs: if the server has no user to give then, there is none in the
    /// result.
    ///
    /// It ends within the deadlines of the refresh and of the request, and never shows the login screen because a
    /// server or a store cannot be reached. Without `refreshing`, the tokens are refreshed only if they must be.
    ///
    /// - Throws: `CancellationError`.
    public func autoLogin(refreshing: Bool = true) async throws -> AutoLogin {
        var isRefreshed = false
        do {
            if case .signedOut(let reason) = try await session.restore() { return .signedOut(reason) }
            if refreshing {
                do {
                    try await session.refresh()
                    isRefreshed = true
                } catch let error as AuthenticationError where error.code == .noRefreshToken {
                    // The session stays as it is: its access token may be valid.
                }
            }
            if case .signedOut(let reason) = session.state { return .signedOut(reason) }
            return .signedIn(try await me())
        } catch let error as CancellationError {
            throw error
        } catch {
            if case .signedOut(let reason) = session.state { return .signedOut(reason) }
            if isRefreshed, (error as? NetworkError)?.status != nil { return .signedIn(nil) }
            return .undetermined(error)
        }
    }

    private func start(with login: Endpoint<SignedIn>, progress: ProgressHandler? = nil) async throws -> User? {
        let response = try await unauthenticated.send(login, progress: progress)
        try await session.signIn(response.tokens.result)
        if let user = response.user { return user }
        do {
            return try await me()
        } catch {
            if case .signedOut = session.state { throw error }
            return nil
        }
    }
}

/// The result of ``AuthService/autoLogin(refreshing:)``: the screen to show.
public enum AutoLogin: Sendable {
    /// The server has accepted the session: show the main screen. `nil`: the tokens were refreshed, and the server
    /// responds to the call for the user with an error.
    case signedIn(User?)

    /// There is no session: show the login screen.
    case signedOut(SignOutReason)

    /// The server or the store cannot be reached now: show the main screen with what is stored, and the error. It is a
    /// `NetworkError` or an `AuthenticationError`.
    case undetermined(any Error)
}
