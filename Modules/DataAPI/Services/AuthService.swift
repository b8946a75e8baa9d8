public import AuthInterface
public import Foundation
public import NetworkCore

/// Signing in and out (rows F1, F2, F3, F5).
///
/// Two networks on purpose: a login goes through the one that has no tokens in it, and *who am I* through the one that
/// has.
public struct AuthService: Sendable {
    private let open: any UnauthenticatedNetworkService
    private let network: any NetworkService
    private let session: any AuthSession

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - open: Sends what needs no token.
    ///   - network: Sends what needs one.
    ///   - session: The session that begins and ends.
    public init(open: any UnauthenticatedNetworkService, network: any NetworkService, session: any AuthSession) {
        self.open = open
        self.network = network
        self.session = session
    }

    /// Signs in a new guest (row F1).
    ///
    /// - Parameters:
    ///   - name: What the guest is to be called.
    ///   - photo: The guest's picture: a JPEG of at most 5 MB.
    ///   - progress: Hears how much of the request is sent.
    /// - Returns: The guest.
    /// - Throws: `NetworkError`; `AuthenticationError` when the server's tokens cannot be used. Whatever is thrown, the
    ///   session there was goes on.
    @discardableResult
    public func registerGuest(name: String, photo: Data, progress: ProgressHandler? = nil) async throws -> User {
        try await begin(with: .registerGuest(name: name, photo: photo), progress: progress)
    }

    /// Signs in somebody whom a provider vouches for (row F2).
    ///
    /// - Parameters:
    ///   - provider: The provider.
    ///   - token: The provider's token.
    /// - Returns: The user.
    /// - Throws: As ``registerGuest(name:photo:progress:)``.
    @discardableResult
    public func socialLogin(_ provider: SocialProvider, token: String) async throws -> User {
        try await begin(with: .socialLogin(provider, token: token))
    }

    /// Signs out (row F5). The session is over when the call is made, whatever it throws.
    ///
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the tokens could not be deleted yet.
    public func logout() async throws {
        try await session.signOut()
    }

    /// Who the session's user is.
    ///
    /// - Returns: The user.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func me() async throws -> User {
        try await network.send(.me)
    }

    /// Finds out at start whether somebody is signed in (row F3): reads the stored session, and asks the server once
    /// who it belongs to. That call refreshes the token first where it must.
    ///
    /// - Returns: What to show. A server that cannot be reached is no reason to show the login.
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the store cannot say: ask again later.
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

    private func begin(with login: Endpoint<SignedIn>, progress: ProgressHandler? = nil) async throws -> User {
        let answer = try await open.send(login, progress: progress)
        try await session.signIn(answer.tokens.result)
        return answer.user
    }
}

/// What the look at the stored session has shown (row F3).
public enum AutoLogin: Sendable {
    /// The session is good: show the main screen.
    case signedIn(User)

    /// There is a session and the server could not be asked: show the main screen, and what is wrong.
    case unverified(NetworkError)

    /// There is no session, or no longer: show the login screen.
    case login(SignOutReason)
}
