import AuthInterface

/// The tokens of one call: places one in each attempt, and asks for another one when the server refuses it.
///
/// It is not public: only ``NetworkClient/authenticated(by:policy:)`` makes one, so that none can end up in the client
/// a refresh goes through (G20).
struct CallAuthentication: Sendable {
    /// How often one call is given another token. Once serves a call whose token was old. A second time serves one whose
    /// replacement was replaced in its turn, by another process, before it arrived (a strict server refuses it then).
    /// The provider itself says `unauthorized` when a new token is refused for any other reason (G10).
    static let replacementLimit = 2

    private let provider: any TokenProvider
    private let policy: AuthenticationPolicy
    private let origins: OriginPolicy

    /// The session the call began with. It stays with that session (G23).
    private var session: SessionID?

    /// The token of the attempt under way. `nil`: it has none, or a redirect has led away from where it may go.
    private(set) var carried: SessionToken?

    /// The token to try next, after a refusal.
    private var replacement: SessionToken?
    private var replacements = 0

    init(provider: any TokenProvider, policy: AuthenticationPolicy, origins: OriginPolicy) {
        self.provider = provider
        self.policy = policy
        self.origins = origins
    }

    /// Forgets the token of the last attempt.
    mutating func startAttempt() {
        carried = nil
    }

    /// Forgets the token of the attempt: a redirect leads to another origin, and the token does not come back.
    mutating func leaveOrigin() {
        carried = nil
    }

    /// Places a token, if the origin may see tokens.
    mutating func placeToken(in head: inout HTTPRequestHead) async throws {
        switch origins.decision(for: head.url) {
        case .foreign:
            return
        case .cleartext:
            throw NetworkError(.cleartextRefused, reason: "a token would go over plain http")
        case .allowed:
            let token = try await nextToken()
            head = try policy.placement.place(token, in: head)
            carried = token
        }
    }

    private mutating func nextToken() async throws -> SessionToken {
        let token: SessionToken
        do {
            token = if let replacement { replacement } else { try await provider.token() }
        } catch let error as AuthenticationError where error.code == .notSignedIn && session != nil {
            // The user signed out between two attempts: this call's session is over.
            throw NetworkError(AuthenticationError(.sessionEnded, cause: error))
        } catch {
            throw try NetworkError(describing: error, otherwise: .authenticationFailed)
        }
        replacement = nil
        guard session == nil || session == token.session else {
            throw NetworkError(AuthenticationError(.sessionEnded))
        }
        session = token.session
        return token
    }

    /// Asks for another token, if the failure refuses the one the attempt carried.
    mutating func retry(_ failure: NetworkError, isReplayable: Bool) async throws -> RetryDecision {
        guard let status = failure.status, policy.expiredStatuses.contains(status), let refused = carried else {
            return .doNotRetry
        }
        guard replacements < Self.replacementLimit else {
            let error = AuthenticationError(.unauthorized)
            throw NetworkError(error, response: failure.response, envelope: failure.envelope)
        }
        let refusal = TokenRefusal(of: refused, in: failure, policy: policy)
        guard isReplayable else {
            // This call is lost. The next one should not be, so the token is replaced now, without waiting for it.
            Task { [provider] in _ = try? await provider.replacement(after: refusal) }
            throw failure.becauseOfOneShotBody()
        }
        do {
            replacement = try await provider.replacement(after: refusal)
            replacements += 1
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
        if carried != nil, let date = head.serverDate { provider.noteServerDate(date) }
    }
}
