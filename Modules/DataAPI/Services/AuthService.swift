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

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - unauthenticated: Sends the calls without tokens.
    ///   - network: Sends the calls with tokens.
    ///   - session: The session to start and end.
    public init(
        unauthenticated: any UnauthenticatedNetworkService,
        network: any NetworkService,
        session: any AuthSession
    ) {
        self.unauthenticated = unauthenticated
        self.network = network
        self.session = session
    }

    /// Registers a guest and signs it in.
    ///
    /// - Parameters:
    ///   - name: The display name.
    ///   - photo: A JPEG of at most 5 MB.
    ///   - progress: Is called with the progress of the upload.
    /// - Returns: The guest.
    /// - Throws: `NetworkError`; `AuthenticationError` when the tokens of the server cannot be used. An earlier session
    ///   stays.
    @discardableResult
    public func registerGuest(name: String, photo: Data, progress: ProgressHandler? = nil) async throws -> User {
        try await start(with: .registerGuest(name: name, photo: photo), progress: progress)
    }

    /// Signs in with the token of an identity provider.
    ///
    /// - Parameters:
    ///   - provider: The identity provider.
    ///   - token: The provider's token.
    /// - Returns: The user.
    /// - Throws: The errors of ``registerGuest(name:photo:progress:)``.
    @discardableResult
    public func socialLogin(_ provider: SocialProvider, token: String) async throws -> User {
        try await start(with: .socialLogin(provider, token: token))
    }

    /// Signs out. The session has ended even if the call throws.
    ///
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the tokens are not deleted from the store yet.
    public func logout() async throws {
        try await session.signOut()
    }

    /// Fetches the user of the session.
    ///
    /// - Returns: The user.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func me() async throws -> User {
        try await network.send(.me)
    }

    /// Restores the stored session at launch, and fetches its user. That call refreshes the token first if it must.
    ///
    /// - Returns: The screen to show. With an unreachable server it is not the login screen.
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the store cannot be read: call again later.
    ///   `CancellationError`.
    public func autoLogin() async throws -> AutoLogin {
        if case .signedOut(let reason) = try await session.restore() { return .login(reason) }
        do {
            return .signedIn(try await me())
        } catch let error as NetworkError {
            if case .signedOut(let reason) = session.state { return .login(reason) }
            return .unverified(error)
        }
    }

    private func start(with login: Endpoint<SignedIn>, progress: ProgressHandler? = nil) async throws -> User {
        let response = try await unauthenticated.send(login, progress: progress)
        try await session.signIn(response.tokens.result)
        return response.user
    }
}

/// The result of ``AuthService/autoLogin()``: the screen to show.
public enum AutoLogin: Sendable {
    /// The server has accepted the session: show the main screen.
    case signedIn(User)

    /// There is a session, and the request to the server failed: show the main screen, and the error.
    case unverified(NetworkError)

    /// There is no session: show the login screen.
    case login(SignOutReason)
}
