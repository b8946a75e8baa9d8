import AuthInterface
import AuthTesting
import ConcurrencyPrimitives

/// Handlers that each break a rule of ``TokenRefreshHandlerContract``.
enum RefreshHandlerMutants {
    typealias Mutant = ContractMutant<AlteredRefreshHandler>

    static let all = tokens + verdicts + calls

    private static let tokens = [
        mutant("a valid refresh token brings an access token that a header field can carry", by: "a line break") {
            try await $0.refresh($1) { $0.accessToken += "\n" }
        },
        mutant("a lifetime, where there is one, is positive", by: "reading a missing lifetime as zero") {
            try await $0.refresh($1) { $0.expiresIn = .zero }
        },
        mutant("the result carries the refresh token to use next", by: "returning the old refresh token") {
            TokenRefreshResult(accessToken: try await $0.refreshProperly($1).accessToken, refreshToken: $1.refreshToken)
        },
        mutant("an empty access token alone is an error, and not a rejection", by: "returning it") {
            let response = try await $0.post($1)
            return response.access == "" ? TokenRefreshResult(accessToken: "") : try $0.tokens(in: response)
        },
        mutant("a new refresh token is returned even beside an empty access token", by: "an error for the access token")
        {
            try await $0.refresh($1) { if $0.accessToken.isEmpty { throw TokenRefreshError.unavailable } }
        },
    ]

    private static let verdicts = [
        mutant("G4: a refused refresh token is TokenRefreshError with code rejected", by: "the transport's error") {
            let response = try await $0.post($1)
            if response.status == 400 { throw TokenEndpoint.ConnectionLost() }
            return try $0.tokens(in: response)
        },
        rejecting("G4: a bare 401 is no rejection") { $0 == 401 },
        rejecting("G4: a gateway's 403 is no rejection") { $0 == 403 },
        rejecting("G4: a page of HTML is an error, and no rejection, with any status") { $0 == 401 || $0 == 403 },
        rejecting("G4: a failing server is no rejection") { $0 != 200 },
        rejecting("G4: too many requests are no rejection") { (400..<500).contains($0) },
        mutant("G6: Retry-After reaches the engine", by: "dropping it") {
            var response = try await $0.post($1)
            response.retryAfter = nil
            return try $0.tokens(in: response)
        },
        mutant("G4: a cut connection is no rejection", by: "any error being a rejection") {
            try await $0.refresh($1, onLoss: TokenRefreshError.rejected)
        },
        mutant("G4: a response that cannot be read is an error, and no rejection", by: "the whole body as the token") {
            let response = try await $0.post($1)
            guard response.status == 200, response.access == nil else { return try $0.tokens(in: response) }
            return TokenRefreshResult(accessToken: response.body)
        },
        mutant("G15: a redirect is an error and no rejection, and is not followed", by: "following it") {
            let response = try await $0.post($1)
            return (300..<400).contains(response.status) ? $0.server.signIn() : try $0.tokens(in: response)
        },
        mutant("G17: no description or dump of an error shows a token or the key", by: "quoting the response") {
            let response = try await $0.post($1)
            guard response.status == 200, response.access == nil else { return try $0.tokens(in: response) }
            throw TokenRefreshError(.unavailable, reason: response.body)
        },
    ]

    private static let calls = [
        mutant("a failure is not remembered: the next call reaches the server", by: "keeping the first error") {
            endpoint, request in
            if case .failure(let error)? = endpoint.memory.withLock({ $0 }) { throw error }
            do { return try await endpoint.refreshProperly(request) } catch {
                endpoint.memory.withLock { $0 = .failure(error) }
                throw error
            }
        },
        mutant(
            "G8: a cancelled call ends, is no rejection, and leaves the handler usable", by: "calling it a rejection"
        ) {
            do { return try await $0.refreshProperly($1) } catch is CancellationError {
                throw TokenRefreshError.rejected
            }
        },
        mutant("concurrent calls are independent: each gets the tokens of its own session", by: "one result for all") {
            endpoint, request in
            let result = try await endpoint.refreshProperly(request)
            endpoint.memory.withLock { $0 = .success(result) }
            for _ in 0..<100 { await Task.yield() }
            return try endpoint.memory.withLock { try $0?.get() } ?? result
        },
        mutant("G12: an error without a response has no status", by: "reporting a cut connection as 503") {
            try await $0.refresh($1, onLoss: TokenRefreshError(.unavailable, status: 503))
        },
        mutant("G12: a call whose response is lost ends soon, and is sent once", by: "a retry of its own") {
            do { return try await $0.refreshProperly($1) } catch is TokenEndpoint.ConnectionLost {
                return try await $0.refreshProperly($1)
            }
        },
        mutant("G12: a request sends its own key, the same each time", by: "one key for all calls") {
            try await $0.refreshProperly(TokenRefreshRequest(refreshToken: $1.refreshToken, idempotencyKey: "key"))
        },
        // Both declare a tolerance that the server does not have.
        mutant(
            "G12: with replayTolerance .sameKey, the same request returns the same tokens again", by: "declaring it",
            tolerating: .sameKey),
        mutant(
            "G12: with replayTolerance .within, the same refresh token returns tokens again", by: "declaring a time",
            tolerating: .within(.seconds(10))),
    ]

    private static func mutant(
        _ rule: String, by fault: String, tolerating tolerance: ReplayTolerance = .none,
        _ onRefresh: @escaping AlteredRefreshHandler.Refresh = { try await $0.refreshProperly($1) }
    ) -> Mutant {
        Mutant(rule, by: fault) { handler in
            handler.replayTolerance = tolerance
            handler.onRefresh = onRefresh
        }
    }

    /// A handler that takes statuses for a refusal of the refresh token.
    private static func rejecting(_ rule: String, _ isRejection: @escaping @Sendable (Int) -> Bool) -> Mutant {
        mutant(rule, by: "statuses that mean a rejection: \(rule)") {
            let response = try await $0.post($1)
            if isRejection(response.status) { throw TokenRefreshError.rejected }
            return try $0.tokens(in: response)
        }
    }
}

extension TokenEndpoint {
    /// A refresh whose result is changed.
    fileprivate func refresh(
        _ request: TokenRefreshRequest, _ change: (inout TokenRefreshResult) throws -> Void
    ) async throws -> TokenRefreshResult {
        var result = try await refreshProperly(request)
        try change(&result)
        return result
    }

    /// A refresh with another error where the connection is lost.
    fileprivate func refresh(
        _ request: TokenRefreshRequest, onLoss error: TokenRefreshError
    ) async throws -> TokenRefreshResult {
        do { return try await refreshProperly(request) } catch is ConnectionLost { throw error }
    }
}
