import AuthInterface
import Foundation

/// The tokens of one call: places one in each attempt, and asks for another one when the server refuses it.
///
/// Only ``NetworkClient/authenticated(by:policy:)`` creates one, so that no client of a refresh has one (G20).
struct CallAuthentication: Sendable {
    /// How many replacements one call gets. The first is for a token that was old. The second is for a replacement that
    /// another process has replaced before it arrived, which a strict server refuses. The provider throws
    /// `unauthorized` when the server refuses a new token for any other reason (G10).
    static let replacementLimit = 2

    /// What all calls of a client share. A call is copied at several steps, and this is one reference.
    final class Rules: Sendable {
        let provider: any TokenProvider
        let policy: AuthenticationPolicy

        init(provider: any TokenProvider, policy: AuthenticationPolicy) {
            self.provider = provider
            self.policy = policy
        }
    }

    private let rules: Rules
    private let continuity: SessionContinuity?

    private var provider: any TokenProvider { rules.provider }
    private var policy: AuthenticationPolicy { rules.policy }

    /// The session in which the call started and stays (G23).
    private(set) var session: SessionID?

    /// The token of the current attempt. `nil`: it carries none, or a redirect has left the origin.
    private(set) var carried: SessionToken?

    /// The tokens that the call carried, which a server may quote in an error.
    private(set) var secrets: [String] = []

    /// The token for the next attempt, after a refusal.
    private var replacement: SessionToken?
    private(set) var replacements = 0

    /// How often the call was repeated with another proof that the server wanted (G34).
    private(set) var challenges = 0
    /// What the last attempts were repeated with: what is wanted again has failed.
    private var answered: Set<WantedInProof> = []

    init(_ rules: Rules, continuity: SessionContinuity? = nil) {
        self.rules = rules
        self.continuity = continuity
        session = continuity?.session
    }

    /// The request carries no token: an attempt starts, or a redirect leads to another origin.
    mutating func forgetToken() { carried = nil }

    /// Places the token at hand, if the origin may receive tokens. Returns `false`: the provider has to be waited for.
    mutating func placeToken(in head: inout HTTPRequestHead, to origin: Origin) throws -> Bool {
        guard policy.origins?.contains(origin) == true else { return true }
        guard policy.placement.proof == nil, let token = replacement ?? provider.validToken else { return false }
        try place(token, in: &head)
        return true
    }

    /// Waits for a token, and places it.
    mutating func placeAwaitedToken(in head: HTTPRequestHead) async throws -> HTTPRequestHead {
        let token: SessionToken
        do {
            token = if let known = replacement ?? provider.validToken { known } else { try await provider.token() }
        } catch let error as AuthenticationError where error.code == .notSignedIn && session != nil {
            // The user signed out between two attempts: the call's session has ended.
            throw NetworkError(AuthenticationError(.sessionEnded, cause: error))
        } catch {
            throw try NetworkError(describing: error, otherwise: .authenticationFailed)
        }
        var head = head
        try place(token, in: &head)
        return try await prove(head)
    }

    /// Whether requests carry a proof, which is valid for one of them.
    var carriesProof: Bool { policy.placement.proof != nil && carried?.binding != nil }

    /// Adds the proof of a request that carries a token, in place of an earlier one.
    func prove(_ head: HTTPRequestHead) async throws -> HTTPRequestHead {
        guard let proof = policy.placement.proof, let token = carried, token.binding != nil else { return head }
        do {
            var head = head
            let fields = try await proof.fields(method: head.method.rawValue, url: head.url, token: token)
            for (name, value) in fields { try head.set(name, to: value) }
            return head
        } catch let error as SigningKeyError where token.issuance.isFollowed {
            // The key may be on the owner's device only. No newer token of the owner would help (G34).
            throw NetworkError(AuthenticationError(.proofRequired, cause: error))
        } catch let error as SigningKeyError {
            // A refresh finds the same (G34): this throws what it demands of the user.
            _ = try await provider.replacement(for: token)
            throw NetworkError(.authenticationFailed, cause: error)
        } catch let error as TokenStoreError {
            throw NetworkError(AuthenticationError(.storeUnavailable, cause: error))
        }
    }

    private mutating func place(_ token: SessionToken, in head: inout HTTPRequestHead) throws {
        replacement = nil
        let joined = continuity?.join(token.session) ?? token.session
        guard joined == token.session, session == nil || session == token.session else {
            throw NetworkError(AuthenticationError(.sessionEnded))
        }
        session = token.session
        try policy.placement.place(token, in: &head)
        carried = token
        // Most calls carry one token, and share its array.
        secrets = secrets.isEmpty ? token.secrets : secrets + token.secrets.filter { !secrets.contains($0) }
    }

    /// Asks for another token, if the failure refuses the one the attempt carried.
    ///
    /// - Throws: An error with code `stepUpRequired` where the token is valid and the server demands more of the user:
    ///   no other token helps, and nothing ends (G32).
    mutating func retry(_ failure: NetworkError, isReplayable: Bool) async throws -> RetryDecision {
        // G34. It refreshes nothing and ends nothing: the token was not looked at.
        if carriesProof, let carried, let wanted = failure.response?.wantedInProof {
            guard answered.insert(wanted).inserted else { return .doNotRetry }
            (challenges, replacement) = (challenges + 1, carried)
            return .retry(after: .zero)
        }
        answered = []
        if carried != nil,
            let demand = failure.demandingStepUp(orOneOf: policy.expiredStatuses, withoutQuoting: secrets)
        {
            throw demand
        }
        guard let refused = carried, policy.refuses(failure) else { return .doNotRetry }
        do {
            guard replacements < Self.replacementLimit else { throw AuthenticationError(.unauthorized) }
            let refusal = TokenRefusal(of: refused, in: failure, policy: policy)
            guard isReplayable else {
                // This call has failed. Its token is replaced without waiting, so that the next call does not fail too.
                Task { [rules] in _ = try? await rules.provider.replacement(after: refusal) }
                throw failure.becauseOfOneShotBody()
            }
            replacement = try await provider.replacement(after: refusal)
            replacements += 1
            return .retry(after: .zero)
        } catch let error as AuthenticationError {
            throw NetworkError(error, response: failure.response, serverError: failure.serverError)
        } catch {
            throw try NetworkError(describing: error, otherwise: .authenticationFailed)
        }
    }

    /// The error of a failed attempt after the deadline of its call, when no other token can be waited for.
    func late(_ failure: NetworkError) -> NetworkError {
        guard carried != nil else { return failure }
        if carriesProof, failure.response?.wantedInProof != nil { return .tokenIsLate }
        let demand = failure.demandingStepUp(orOneOf: policy.expiredStatuses, withoutQuoting: secrets)
        return demand ?? (policy.refuses(failure) ? .tokenIsLate : failure)
    }

    /// Passes the date on the server's clock to the provider, and with the nonce of the server to the next proof, for
    /// responses to requests with a token only: another origin must not decide how long a session's tokens are valid.
    ///
    /// `elapsed` is the time since the call started. The date of a slow response is somewhere between, also where the
    /// process slept while it lay in the socket: it sets no clock.
    func note(_ head: HTTPResponseHead, from url: URL, after elapsed: @autoclosure () -> Duration) {
        guard let token = carried else { return }
        var date = head.serverDate
        if date != nil, elapsed() > HTTPResponseHead.dateTolerance {
            // A proof that was refused for its time is made anew with this one, which is the best there is.
            if head.wantedInProof != .time { date = nil }
        } else if let date {
            provider.noteServerDate(date)
        }
        guard let proof = policy.placement.proof, token.binding != nil else { return }
        // RFC 9449 §8.2: what a cache has kept has an old nonce.
        let nonce = head.isKept ? nil : head.headers["DPoP-Nonce"]
        proof.received(nonce: nonce, serverDate: date, from: url, for: token)
    }
}

extension NetworkError {
    /// It was the token that the server has refused, and not the call.
    static var tokenIsLate: NetworkError {
        let reason = "the deadline passed before the call could be sent again with a new token or proof"
        return NetworkError(.timedOut, reason: reason, waitedFor: .token)
    }
}

extension TokenRefusal {
    init(of token: SessionToken, in failure: NetworkError, policy: AuthenticationPolicy) {
        let secrets: [String?] = token.secrets
        let codes = policy.invalidTokenCodes.union(policy.refusals.invalidTokenCodes)
        let isListed = failure.serverError?.hasCode(of: codes)
        self.init(
            of: token,
            endpoint: failure.request.flatMap { $0.endpoint?.withoutQuoting(secrets) },
            saysTokenIsInvalid: isListed == true || failure.response?.saysBearerTokenIsInvalid == true,
            status: failure.status,
            serverCode: failure.serverError?.code?.asIdentifier(withoutQuoting: secrets),
            requestID: failure.requestID?.asIdentifier(withoutQuoting: secrets)
        )
    }
}

extension RequestSummary {
    /// Method, origin and path, without the query: `GET https://api.example.com/articles/7`.
    fileprivate var endpoint: String? {
        guard let url = URL(string: url), let origin = Origin(url) else { return nil }
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        return "\(method) \(origin)\(path)"
    }
}
