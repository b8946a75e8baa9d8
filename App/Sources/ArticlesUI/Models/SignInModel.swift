package import AuthInterface
import DataAPI
import Observation

/// The login screen: a guest with a photo, or an identity provider. One login is under way at a time.
@Observable
@MainActor
package final class SignInModel {
    package let reason: SignOutReason

    /// The error of a sign-out whose tokens could not be deleted yet. The session has ended nevertheless.
    package let signOutError: ScreenError?

    package let guest: GuestLoginModel
    package let social: ProviderLoginModel

    @ObservationIgnored private let login: ModelCall

    init(
        reason: SignOutReason, signOutError: ScreenError? = nil, services: ScreenServices,
        finish: @escaping (User?) -> Void
    ) {
        let login = ModelCall()
        self.reason = reason
        self.signOutError = signOutError
        self.login = login
        guest = GuestLoginModel(services: services, login: login, finish: finish)
        social = ProviderLoginModel(identity: services.identity, call: login) {
            try await services.logins.signIn($0, token: $1)
        } finish: {
            finish(try? $0?.get())
        }
    }

    var isBusy: Bool { login.isRunning }

    func close() {
        login.cancel()
        guest.close()
    }
}
