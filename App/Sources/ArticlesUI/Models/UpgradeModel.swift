package import DataAPI
import Observation

/// Makes a guest the owner of an account at an identity provider. The user, its articles and its session stay.
@Observable
@MainActor
package final class UpgradeModel {
    /// `loaded` means that the account belongs to the user now.
    package private(set) var phase = LoadPhase.idle

    /// The provider whose upgrade is under way.
    package private(set) var provider: SocialProvider?

    /// The providers that the screen offers.
    package let providers: [SocialProvider] = [.apple, .kakao]

    @ObservationIgnored private let call = ModelCall()
    private let services: ScreenServices
    private let sessionMayHaveEnded: () -> Void
    private let finish: (User) -> Void

    init(services: ScreenServices, sessionMayHaveEnded: @escaping () -> Void, finish: @escaping (User) -> Void) {
        self.services = services
        self.sessionMayHaveEnded = sessionMayHaveEnded
        self.finish = finish
    }

    /// Obtains the provider's token and upgrades the guest. A user who closes the provider's sheet sees no error.
    package func upgrade(with provider: SocialProvider) async {
        await call.join { [self] ticket in
            phase = .loading
            self.provider = provider
            do {
                let token = try await services.identity.token(for: provider)
                guard ticket.isCurrent else { return }
                let user = try await services.upgrades.upgrade(provider, token: token)
                guard ticket.isCurrent else { return }
                end(.loaded)
                finish(user)
            } catch {
                guard ticket.isCurrent else { return }
                fail(error, ticket)
            }
        }
    }

    /// Stops the upgrade. It may have happened nevertheless: the same upgrade again succeeds then.
    package func cancel() {
        guard phase == .loading else { return }
        call.cancel()
        end(.idle)
    }

    /// The session is over.
    func close() {
        call.cancel()
        end(.idle)
    }

    private func fail(_ error: any Error, _ ticket: ModelCall.Ticket) {
        guard !error.isCancellation else { return end(.idle) }
        let error = ScreenError(error)
        if error.mayEndSession { sessionMayHaveEnded() }
        if ticket.isCurrent { end(.failed(error)) }
    }

    private func end(_ phase: LoadPhase) {
        provider = nil
        self.phase = phase
    }
}
