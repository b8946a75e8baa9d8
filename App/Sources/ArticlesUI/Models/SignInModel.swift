package import AuthInterface
package import DataAPI
import Observation

/// The login screen: a guest with a photo, or an identity provider. One login is under way at a time.
@Observable
@MainActor
package final class SignInModel {
    /// Why there is no session.
    package let reason: SignOutReason

    /// The error of a sign-out whose tokens could not be deleted yet. The session has ended nevertheless.
    package let signOutError: ScreenError?

    package let guest: GuestLoginModel
    package let social: SocialLoginModel

    @ObservationIgnored private let login: ModelCall

    init(
        reason: SignOutReason,
        signOutError: ScreenError? = nil,
        services: ScreenServices,
        finish: @escaping (User?) -> Void
    ) {
        let login = ModelCall()
        self.reason = reason
        self.signOutError = signOutError
        self.login = login
        guest = GuestLoginModel(services: services, login: login, finish: finish)
        social = SocialLoginModel(services: services, login: login, finish: finish)
    }

    /// Whether a login is under way.
    var isBusy: Bool { login.isRunning }

    /// The screen is gone.
    func close() {
        login.cancel()
        guest.close()
    }
}

/// Signs in with an identity provider.
@Observable
@MainActor
package final class SocialLoginModel {
    package private(set) var phase = LoadPhase.idle

    /// The provider whose login is under way.
    package private(set) var provider: SocialProvider?

    /// The providers that the screen offers.
    package let providers: [SocialProvider] = [.apple, .kakao]

    @ObservationIgnored private let login: ModelCall
    private let services: ScreenServices
    private let finish: (User?) -> Void

    init(services: ScreenServices, login: ModelCall, finish: @escaping (User?) -> Void) {
        self.services = services
        self.login = login
        self.finish = finish
    }

    /// Obtains the provider's token and signs in. A user who closes the provider's sheet sees no error.
    package func signIn(with provider: SocialProvider) async {
        await login.join { [self] ticket in
            phase = .loading
            self.provider = provider
            do {
                let token = try await services.identity.token(for: provider)
                guard ticket.isCurrent else { return }
                let user = try await services.social.signIn(provider, token: token)
                guard ticket.isCurrent else { return }
                end(.loaded)
                finish(user)
            } catch {
                guard ticket.isCurrent else { return }
                end(error.isCancellation ? .idle : .failed(ScreenError(error)))
                finish(nil)
            }
        }
    }

    /// Cancels the login.
    package func cancel() {
        guard provider != nil else { return }
        login.cancel()
        end(.idle)
        finish(nil)
    }

    private func end(_ phase: LoadPhase) {
        provider = nil
        self.phase = phase
    }
}
