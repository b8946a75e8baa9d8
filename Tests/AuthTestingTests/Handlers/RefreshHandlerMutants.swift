import AuthInterface
import AuthTesting
import ConcurrencyPrimitives

/// A handler that breaks one rule of ``TokenRefreshHandlerContract`` on purpose.
struct RefreshHandlerMutant: Sendable, CustomStringConvertible {
    let rule: String
    let flaw: String
    let backend: @Sendable () -> AlteredRefreshBackend

    var description: String { flaw }

    init(
        _ rule: String,
        by flaw: String,
        tolerating tolerance: ReplayTolerance = .none,
        over server: ReplayTolerance = .none,
        _ onRefresh: @escaping AlteredRefreshHandler.Refresh = { try await $0.refreshProperly($1) }
    ) {
        self.rule = rule
        self.flaw = flaw
        backend = {
            AlteredRefreshBackend(
                endpoint: TokenEndpoint(tolerating: server), replayTolerance: tolerance, onRefresh: onRefresh)
        }
    }

    /// For a handler with state: each backend has its own.
    init(
        _ rule: String,
        by flaw: String,
        making: @escaping @Sendable () -> AlteredRefreshHandler.Refresh
    ) {
        self.rule = rule
        self.flaw = flaw
        backend = {
            var backend = AlteredRefreshBackend()
            backend.onRefresh = making()
            return backend
        }
    }

    static let all = tokens + verdicts + calls + replays

    private static let rotation = "the result carries the refresh token to use next"

    private static let newRefreshToken = "a new refresh token is returned even beside an empty access token"

    private static let tokens = [
        Self(
            "a valid refresh token brings an access token that a header field can carry",
            by: "a line break in the token"
        ) {
            var result = try await $0.refreshProperly($1)
            result.accessToken += "\n"
            return result
        },
        Self("a lifetime, where there is one, is positive", by: "reading a missing lifetime as zero") {
            var result = try await $0.refreshProperly($1)
            result.expiresIn = .zero
            return result
        },
        Self(rotation, by: "dropping the new refresh token") {
            TokenRefreshResult(accessToken: try await $0.refreshProperly($1).accessToken)
        },
        Self(rotation, by: "returning the old refresh token") {
            TokenRefreshResult(accessToken: try await $0.refreshProperly($1).accessToken, refreshToken: $1.refreshToken)
        },
        Self(rotation, by: "returning an empty refresh token") {
            TokenRefreshResult(accessToken: try await $0.refreshProperly($1).accessToken, refreshToken: "")
        },
        Self("an empty access token alone is an error, and not a rejection", by: "returning it") {
            let response = try await $0.post($1)
            guard response.access == "" else { return try $0.tokens(in: response) }
            return TokenRefreshResult(accessToken: "")
        },
        Self("an empty access token alone is an error, and not a rejection", by: "calling it a rejection") {
            let response = try await $0.post($1)
            if response.access == "" { throw TokenRefreshError.rejected }
            return try $0.tokens(in: response)
        },
        Self(newRefreshToken, by: "an error for an access token that is empty") {
            let result = try await $0.refreshProperly($1)
            if result.accessToken.isEmpty { throw TokenRefreshError.unavailable }
            return result
        },
        Self(newRefreshToken, by: "the old access token with the old refresh token") {
            let result = try await $0.refreshProperly($1)
            return result.accessToken.isEmpty
                ? TokenRefreshResult(accessToken: $1.accessToken, refreshToken: nil) : result
        },
    ]

    private static let page = "G4: a page of HTML is an error, and no rejection, with any status"

    private static let verdicts = [
        Self(
            "G4: a refused refresh token is TokenRefreshError with code rejected", by: "throwing the transport's error"
        ) {
            let response = try await $0.post($1)
            if response.status == 400 { throw TokenEndpoint.ConnectionLost() }
            return try $0.tokens(in: response)
        },
        Self("G4: a bare 401 is no rejection", by: "any 401 being a refusal of the refresh token") {
            try $0.tokens(in: try await $0.post($1), rejecting: { $0 == 401 })
        },
        Self("G4: a gateway's 403 is no rejection", by: "any 403 being a refusal of the refresh token") {
            try $0.tokens(in: try await $0.post($1), rejecting: { $0 == 403 })
        },
        Self(page, by: "any 401 or 403 being a refusal of the refresh token") {
            try $0.tokens(in: try await $0.post($1), rejecting: { $0 == 401 || $0 == 403 })
        },
        Self(page, by: "the page as the token") {
            let response = try await $0.post($1)
            guard response.status == 200, response.body.hasPrefix("<") else { return try $0.tokens(in: response) }
            return TokenRefreshResult(accessToken: response.body)
        },
        Self("G4: a failing server is no rejection", by: "any status but 200 being a rejection") {
            try $0.tokens(in: try await $0.post($1), rejecting: { $0 != 200 })
        },
        Self("G4: too many requests are no rejection", by: "any 4xx being a rejection") {
            try $0.tokens(in: try await $0.post($1), rejecting: { (400..<500).contains($0) })
        },
        Self("G6: Retry-After reaches the engine", by: "dropping it") {
            var response = try await $0.post($1)
            response.retryAfter = nil
            return try $0.tokens(in: response)
        },
        Self("G4: a cut connection is no rejection", by: "any error being a rejection") {
            do {
                return try await $0.refreshProperly($1)
            } catch is TokenEndpoint.ConnectionLost {
                throw TokenRefreshError.rejected
            }
        },
        Self("G4: a response that cannot be read is an error, and no rejection", by: "calling it a rejection") {
            let response = try await $0.post($1)
            if response.status == 200, response.access == nil { throw TokenRefreshError.rejected }
            return try $0.tokens(in: response)
        },
        Self("G4: a response that cannot be read is an error, and no rejection", by: "the whole body as the token") {
            let response = try await $0.post($1)
            guard response.status == 200, response.access == nil else { return try $0.tokens(in: response) }
            return TokenRefreshResult(accessToken: response.body)
        },
        Self("G15: a redirect is an error and no rejection, and is not followed", by: "following it") {
            let response = try await $0.post($1)
            return response.location == nil ? try $0.tokens(in: response) : $0.server.signIn()
        },
        Self("G15: a redirect is an error and no rejection, and is not followed", by: "calling it a rejection") {
            try $0.tokens(in: try await $0.post($1), rejecting: { (300..<400).contains($0) })
        },
        Self("G17: no description or dump of an error shows a token or the key", by: "quoting the response") {
            let response = try await $0.post($1)
            guard response.status == 200 else { return try $0.tokens(in: response) }
            guard let access = response.access else { throw TokenRefreshError(.unavailable, reason: response.body) }
            return try $0.tokens(in: .init(access: access, refresh: response.refresh))
        },
    ]

    private static let calls = [
        Self(
            "a failure is not remembered: the next call reaches the server",
            by: "a handler that keeps its first error",
            making: {
                let failure = Locked<(any Error)?>(nil)
                return { endpoint, request in
                    if let failure = failure.withLock({ $0 }) { throw failure }
                    do {
                        return try await endpoint.refreshProperly(request)
                    } catch {
                        failure.withLock { $0 = error }
                        throw error
                    }
                }
            }
        ),
        Self("G8: a cancelled call ends, is no rejection, and leaves the handler usable", by: "calling it a rejection")
        {
            do {
                return try await $0.refreshProperly($1)
            } catch is CancellationError {
                throw TokenRefreshError.rejected
            }
        },
        Self("G8: a cancelled call ends, is no rejection, and leaves the handler usable", by: "ignoring it") {
            endpoint, request in
            try await Task { try await endpoint.refreshProperly(request) }.value
        },
        Self(
            "concurrent calls are independent: each gets the tokens of its own session",
            by: "a single flight for all tokens",
            making: {
                let flight = Locked<Task<TokenRefreshResult, any Error>?>(nil)
                return { endpoint, request in
                    let (task, isMine) = flight.withLock { flight in
                        if let flight { return (flight, false) }
                        let task = Task {
                            for _ in 0..<100 { await Task.yield() }
                            return try await endpoint.refreshProperly(request)
                        }
                        flight = task
                        return (task, true)
                    }
                    defer { if isMine { flight.withLock { $0 = nil } } }
                    return try await withTaskCancellationHandler {
                        try await task.value
                    } onCancel: {
                        task.cancel()
                    }
                }
            }
        ),
        Self(
            "concurrent calls are independent: each gets the tokens of its own session",
            by: "a result that all calls share",
            making: {
                let shared = Locked<TokenRefreshResult?>(nil)
                return { endpoint, request in
                    let result = try await endpoint.refreshProperly(request)
                    shared.withLock { $0 = result }
                    for _ in 0..<100 { await Task.yield() }
                    return shared.withLock { $0 } ?? result
                }
            }
        ),
    ]
}

extension TokenEndpoint {
    func tokens(in response: Response, rejecting: (Int) -> Bool) throws -> TokenRefreshResult {
        if rejecting(response.status) { throw TokenRefreshError.rejected }
        return try tokens(in: response)
    }
}
