import AuthInterface
import ConcurrencyPrimitives

/// Places tokens, and asks for another one when the server refuses one. It lives for one call.
///
/// It is not public: only ``NetworkClient/authenticated(by:policy:)`` makes one, so that none can end up in the client
/// a refresh goes through (G20).
struct AuthenticationInterceptor: RequestInterceptor {
    /// How often one call is given another token. Once serves a call whose token was old. A second time serves one whose
    /// replacement was replaced in its turn, by another process, before it arrived (a strict server refuses it then).
    /// The provider itself says `unauthorized` when a new token is refused for any other reason (G10).
    static let replacementLimit = 2

    private struct State {
        /// The session the call began with. It stays with that session (G23).
        var session: SessionID?
        /// The token of the attempt under way. `nil`: the attempt went without.
        var carried: SessionToken?
        /// The token to try next, after a refusal.
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

    /// The session whose token the attempt under way began with.
    var carriedSession: SessionID? { state.withLock { $0.carried?.session } }

    func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
        state.withLock { $0.carried = nil }
        guard context.requiresAuthentication else { return request }
        switch origins.decision(for: request.url) {
        case .foreign:
            return request
        case .cleartext:
            throw NetworkError(.cleartextRefused, reason: "a token would go over plain http")
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
            // The user signed out between two attempts: this call's session is over.
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
            // This call is lost. The next one should not be, so the token is replaced now, without waiting for it.
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

    /// Tells the provider the time on the server's clock. Only a response to a request with a token counts: another
    /// origin does not decide how long a session's tokens are valid.
    func note(_ head: HTTPResponseHead) {
        if let date = head.serverDate { provider.noteServerDate(date) }
    }
}
