package import AuthInterface
import DataAPI
import Observation

/// The application's screens: the launch, the login, and the screens of a session.
///
/// The state of the session decides which one is shown. Its stream only says when to look, so a state that arrives late
/// changes nothing.
@Observable
@MainActor
package final class AppModel {
    package enum Root {
        case splash(SplashModel)
        case signIn(SignInModel)
        case main(MainModel)
    }

    package private(set) var root: Root

    package var splash: SplashModel? { if case .splash(let splash) = root { splash } else { nil } }
    package var signIn: SignInModel? { if case .signIn(let login) = root { login } else { nil } }
    package var main: MainModel? { if case .main(let main) = root { main } else { nil } }

    /// The session has ended while the user worked: an alert asks for a new login. It is shown once for each end.
    package private(set) var alert: SessionEndAlert?

    @ObservationIgnored private var kept: MainModel.Place?
    @ObservationIgnored private let leaving = ModelCall()
    private let services: ScreenServices

    package init(services: ScreenServices) {
        self.services = services
        // Replaced below: a closure that uses this object needs it initialized.
        root = .splash(SplashModel(account: services.account) { _ in })
        root = .splash(SplashModel(account: services.account) { [weak self] in self?.launched($0) })
    }

    /// Restores the session, and follows it until the task is cancelled.
    package func run() async {
        let states = services.session.states
        await splash?.launch()
        for await _ in states { follow() }
    }

    package func signOut() async {
        await leaving.join { [self] _ in
            do {
                try await services.session.signOut()
                follow()
            } catch {
                follow(signOutError: ScreenError(error))
            }
        }
    }

    package func dismissAlert() {
        alert = nil
    }

    private func follow(signOutError: ScreenError? = nil) {
        switch (services.session.state, root) {
        case (.unknown, _): break
        case (.signedIn(let id), .main(let main)) where main.session == id: break
        case (.signedIn, .splash(let splash)) where splash.isLaunching: break
        case (.signedIn, .signIn(let login)) where login.isBusy: break
        case (.signedIn(let id), _): open(id, user: nil)
        case (.signedOut(let reason), .main(let main)): end(main, reason, signOutError)
        case (.signedOut, .splash(let splash)) where splash.isLaunching: break
        case (.signedOut(let reason), .splash): showLogin(reason)
        case (.signedOut(let reason), .signIn) where signOutError != nil: showLogin(reason, signOutError)
        case (.signedOut, .signIn): break
        }
    }

    private func launched(_ outcome: AutoLogin) {
        guard let splash else { return }
        switch (outcome, services.session.state) {
        case (.signedIn(let user), .signedIn(let id)): open(id, user: user)
        case (.undetermined(let error), .signedIn(let id)): open(id, user: nil, banner: ScreenError(error))
        case (_, .signedIn(let id)): open(id, user: nil)
        case (.signedOut(let reason), _): showLogin(reason)
        case (_, .signedOut(let reason)): showLogin(reason)
        case (.undetermined(let error), .unknown): splash.fail(ScreenError(error))
        case (_, .unknown): splash.fail(ScreenError("storeUnavailable"))
        }
    }

    /// - Parameter user: Who has signed in; `nil`: the login ended without a user. Another process may have started a
    ///   session meanwhile, or the login that was cancelled.
    private func loggedIn(_ user: User?) {
        if case .signedIn(let id) = services.session.state { open(id, user: user) }
    }

    private func open(_ session: SessionID, user: User?, banner: ScreenError? = nil) {
        close(root)
        var usesProvider = false
        if user != nil, let signIn { usesProvider = signIn.social.phase == .loaded }
        let main = MainModel(
            session: session, user: user, usesProvider: usesProvider, banner: banner, services: services,
            sessionMayHaveEnded: { [weak self] in self?.follow() })
        if let kept, kept.user == user?.id { main.restore(kept) }
        kept = nil
        alert = nil
        root = .main(main)
    }

    private func end(_ main: MainModel, _ reason: SignOutReason, _ error: ScreenError?) {
        kept = reason == .byUser ? nil : main.place
        let hasDraft = main.compose.hasDraft
        close(root)
        if reason != .byUser, reason != .never {
            alert = SessionEndAlert(reason: reason, isPlaceKept: kept != nil, isDraftKept: kept != nil && hasDraft)
        }
        showLogin(reason, error)
    }

    private func showLogin(_ reason: SignOutReason, _ error: ScreenError? = nil) {
        root = .signIn(
            SignInModel(reason: reason, signOutError: error, services: services) { [weak self] in self?.loggedIn($0) })
    }

    private func close(_ root: Root) {
        switch root {
        case .splash(let splash): splash.close()
        case .signIn(let login): login.close()
        case .main(let main): main.close()
        }
    }
}

/// Says that the session has ended and why (G24).
package struct SessionEndAlert: Sendable, Hashable {
    package let reason: SignOutReason

    /// Whether the same user continues where the session ended.
    package let isPlaceKept: Bool

    /// Whether there is a draft that the same user gets back.
    package let isDraftKept: Bool
}
