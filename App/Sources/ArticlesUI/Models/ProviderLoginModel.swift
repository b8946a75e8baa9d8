package import DataAPI
import Observation

/// Signs in with an identity provider: for a session, or to make a guest the owner of an account there.
@Observable
@MainActor
package final class ProviderLoginModel {
    /// `loaded` means that the server has accepted the provider's token.
    package private(set) var phase = LoadPhase.idle

    package private(set) var provider: SocialProvider?

    /// The providers that the screen offers; none to a user who is known to have one.
    package let providers: [SocialProvider]

    @ObservationIgnored private let call: ModelCall
    private let identity: any IdentityTokenSource
    private let exchange: (SocialProvider, String) async throws -> User?
    private let finish: (Result<User?, ScreenError>?) -> Void

    /// `exchange` sends the token to the server; `finish` is called with the user, with the error, or with `nil` when
    /// the user has cancelled.
    init(
        isOffered: Bool = true, identity: any IdentityTokenSource, call: ModelCall = ModelCall(),
        exchange: @escaping (SocialProvider, String) async throws -> User?,
        finish: @escaping (Result<User?, ScreenError>?) -> Void
    ) {
        providers = isOffered ? [.apple, .kakao] : []
        self.identity = identity
        self.call = call
        self.exchange = exchange
        self.finish = finish
    }

    /// Obtains the provider's token and sends it to the server. A user who closes the provider's sheet sees no error.
    package func signIn(with provider: SocialProvider) async {
        await call.join { [self] ticket in
            phase = .loading
            self.provider = provider
            do {
                let token = try await identity.token(for: provider)
                guard ticket.isCurrent else { return }
                let user = try await exchange(provider, token)
                guard ticket.isCurrent else { return }
                end(.loaded)
                finish(.success(user))
            } catch {
                guard ticket.isCurrent else { return }
                let failure = error.isCancellation ? nil : ScreenError(error)
                end(failure.map { .failed($0) } ?? .idle)
                finish(failure.map { .failure($0) })
            }
        }
    }

    /// Cancels the login. The server may have accepted the token nevertheless: the same login again succeeds then.
    package func cancel() {
        guard provider != nil else { return }
        close()
        finish(nil)
    }

    func close() {
        call.cancel()
        end(.idle)
    }

    private func end(_ phase: LoadPhase) {
        provider = nil
        self.phase = phase
    }
}
