import AuthInterface
import ConcurrencyPrimitives

/// Places tokens, and asks the provider for another one when the server refuses one. Each call has its own.
///
/// It is not public: only ``NetworkClient/authenticated(by:policy:)`` creates one, so that the client of a refresh
/// cannot contain one (G20).
struct AuthenticationInterceptor: RequestInterceptor {
    /// How many replacements one call gets. The first is for a token that was old. The second is for a replacement that
    /// another process has replaced before it arrived, which a strict server refuses. The provider throws
    /// `unauthorized` when the server refuses a new token for any other reason (G10).
    static let replacementLimit = 2

    private struct State {
        /// The session in which the call started and stays (G23).
        var session: SessionID?
        /// The token of the current attempt. `nil`: it carries none.
        var carried: SessionToken?
        /// The token for the next attempt, after a refusal.
        var replacement: SessionToken?
        var replacements = 0
    }

    private let provider: any TokenProvider
    private let policy: AuthenticationPolicy
    private let origins: OriginPolicy
    private let state = Locked(State())

    init(provider: any TokenProvider, policy: AuthenticationPolicy, origins: OriginPolicy) {
        self.provider = provider
        self.policy = policy
        self.origins = origins
    }

    /// Whether the current attempt started with a token.
    var carriesToken: Bool { state.withLock { $0.carried != nil } }

    func adapt(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        state.withLock { $0.carried = nil }
        guard context.requiresAuthentication, let url = request.url else { return request }
        switch origins.decision(for: url) {
        case .foreign:
            return request
        case .cleartext:
            throw NetworkError(.cleartextRefused, reason: "a token must not be sent over plain http")
        case .allowed:
            let token = try await nextToken()
            let request = try policy.placement.place(token, in: request)
            state.withLock { $0.carried = token }
            return request
        }
    }

    private func nextToken() async throws -> SessionToken {
        let (replacement, session) = state.withLock { state in
            defer { state.replacement = nil }
            return (state.replacement, state.session)
        }
        let token: SessionToken
        do {
            token = if let replacement { replacement } else { try await provider.token() }
        } catch let error as AuthenticationError where error.code == .notSignedIn && session != nil {
            // The user signed out between two attempts: the call's session has ended.
            throw NetworkError(AuthenticationError(.sessionEnded, cause: error))
        } catch {
            throw try NetworkError(describing: error, otherwise: .authenticationFailed)
        }
        guard session == nil || session == token.session else {
            throw NetworkError(AuthenticationError(.sessionEnded))
        }
        state.withLock { $0.session = token.session }
        return token
    }

    func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision {
        let (carried, replacements) = state.withLock { ($0.carried, $0.replacements) }
        guard let status = failure.status, policy.expiredStatuses.contains(status), let refused = carried else {
            return .doNotRetry
        }
        guard replacements < Self.replacementLimit else {
            let error = AuthenticationError(.unauthorized)
            throw NetworkError(error, response: failure.response, envelope: failure.envelope)
        }
        let refusal = TokenRefusal(of: refused, in: failure, policy: policy)
        guard context.isReplayable else {
            // This call has failed. Its token is replaced without waiting, so that the next call does not fail too.
            Task { [provider] in _ = try? await provider.replacement(after: refusal) }
            throw failure.becauseOfOneShotBody()
        }
        do {
            let replacement = try await provider.replacement(after: refusal)
            state.withLock { state in
                state.replacement = replacement
                state.replacements += 1
            }
            return .retry(after: .zero)
        } catch let error as AuthenticationError {
            throw NetworkError(error, response: failure.response, envelope: failure.envelope)
        } catch {
            throw try NetworkError(describing: error, otherwise: .authenticationFailed)
        }
    }

    /// Passes the date on the server's clock to the provider. Called for responses to requests with a token only: another
    /// origin must not decide how long a session's tokens are valid.
    func note(_ head: HTTPResponseHead) {
        if let date = head.serverDate { provider.noteServerDate(date) }
    }
}
