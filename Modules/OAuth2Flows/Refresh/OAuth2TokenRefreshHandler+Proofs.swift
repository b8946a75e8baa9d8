public import AuthInterface
import NetworkCore

extension OAuth2TokenRefreshHandler: TokenBindingHandler {
    /// Deletes the key of a session that has ended. It throws what the place of the keys throws.
    public func release(_ binding: TokenBinding) async throws { try await prover?.deleteKey(binding.thumbprint) }
}

/// The refresh of tokens that are bound to a key (DPoP, RFC 9449, G34).
extension OAuth2TokenRefreshHandler {
    /// How long the call that fetches a nonce may take. The refresh waits for it.
    private static let nonceLimit = Duration.seconds(10)

    /// The key to which the tokens are bound, with a nonce of the server. `nil`: they are bound to none.
    func key(for request: TokenRefreshRequest) async throws -> DPoPTokenCall? {
        guard let binding = request.binding else { return nil }
        guard binding.thumbprint != client.assertion?.thumbprint else {
            // The session's key is deleted when the session ends, and the client would lose its own.
            throw TokenRefreshError(
                .unavailable, reason: "the client's key is the key of the session (DPoP); give the client another key")
        }
        do {
            let key = try await DPoPTokenCall.key(of: binding, prover, setIn: "refresh handler")
            if let key, key.prover.needsNonce(of: tokenEndpoint, binding.thumbprint) { try await fetchNonce(key) }
            return key
        } catch let error as SigningKeyError {
            // Another process may have it: its folder may not be mounted here. The user has a door, and nothing ends.
            throw TokenRefreshError(
                .userActionRequired, reason: error.description, stepUp: StepUpChallenge(.key), cause: error)
        }
    }

    /// Makes the call, and once more where the server wants another proof or assertion: the same attempt, with the same
    /// intent, key and end of the right to start it.
    func perform(_ request: TokenRefreshRequest, with key: DPoPTokenCall?) async throws -> TokenRefreshResult {
        var challenge: String?
        do {
            return try await client.perform(at: tokenEndpoint, with: key) { code in
                challenge = code
                guard request.startPermit?.startOver() ?? true else {
                    throw TokenRefreshError(.unavailable, reason: "too late for another proof", status: 400)
                }
            } _: { proof in
                try await exchange(request, proof: proof)
            }
        } catch let error as NetworkError {
            let secrets = secrets(of: request)
            var verdict = verdict(on: error.withoutQuoting(secrets), withoutQuoting: secrets)
            verdict.challenge = challenge
            throw verdict
        }
    }

    /// Fetches a nonce by a refresh without a refresh token, which has nothing to spend and which the server refuses.
    /// It throws when there is no response of the server, or the proof is refused: a call that spends a token would
    /// fail too.
    private func fetchNonce(_ key: DPoPTokenCall) async throws {
        struct NonceCame: Error {}
        do {
            // Without the old nonce: a server that wants nonces responds with a new one.
            try await client.perform(at: tokenEndpoint, with: key, hasNonce: false) { code in
                if code == "use_dpop_nonce" { throw NonceCame() }
            } _: { proof in
                let probe = try await client.call(["grant_type": "refresh_token"]) {
                    Endpoint<Void>.post(.url(tokenEndpoint), body: $0)
                }
                .allowingLateResponse().timeout(Self.nonceLimit).deadline(Self.nonceLimit)
                return try await network.send(probe.header("DPoP", proof ?? "").map { ($0, $1) })
            }
        } catch is NonceCame {
        } catch let error as NetworkError
            where error.isRefusalOfTheCall && (error.status ?? 500) < 429
            && error.codeOfTokenEndpoint != "invalid_dpop_proof"
        {
            // The server misses the token, and names its nonce if it wants one; or a gateway has refused the call.
        } catch let error as NetworkError {
            // No status: nothing was exchanged, and no response to a refresh is lost.
            let cause = TokenRefreshError(.unavailable, error.withoutQuoting(client.secrets))
            throw TokenRefreshError(
                .unavailable, reason: "no nonce for the refresh: \(cause)", retryAfter: error.retryAfter, cause: cause)
        }
    }
}
