import AuthInterface
import ContractTesting

import struct Foundation.UUID

enum TokenRefreshHandlerRules {
    static let all = tokens + verdicts + calls + replays

    private static let tokens: [ContractRule<any RefreshBackend>] = [
        ContractRule("a valid refresh token brings an access token that a header field can carry") { backend in
            let result = try await backend.refreshed(try await backend.signIn())
            try expect(!result.accessToken.isEmpty, otherwise: "the access token is empty")
            let isPrintable = result.accessToken.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            try expect(isPrintable, otherwise: "the access token has characters that no header field can carry")
        },
        ContractRule("a lifetime, where there is one, is positive") { backend in
            let result = try await backend.refreshed(try await backend.signIn())
            try expect(result.expiresIn.map { $0 > .zero } ?? true, otherwise: "expiresIn is not positive")
        },
        ContractRule("the result carries the refresh token to use next") { backend in
            let first = try await backend.signIn()
            let second = try await backend.refreshed(first)
            if backend.rotatesRefreshTokens {
                try expect(second.refreshToken != nil, otherwise: "the new refresh token is missing")
                try expect(second.refreshToken != first.refreshToken, otherwise: "it carries the old refresh token")
            }
            try expect(second.refreshToken != "", otherwise: "the refresh token is empty instead of nil")
            let third = try await backend.refreshed(second, orWith: first.refreshToken)
            try expect(!third.accessToken.isEmpty, otherwise: "the next access token is empty")
        },
        rule("an empty access token alone is an error, and not a rejection", failing: [.emptyAccessToken]),
        ContractRule("a new refresh token is returned even beside an empty access token") { backend in
            let issued = try await backend.signIn()
            guard try await backend.respond(with: .emptyAccessTokenAndNewRefreshToken) else { return }
            let result: TokenRefreshResult
            do { result = try await backend.refreshed(issued) } catch {
                throw RuleBroken("it threw \(type(of: error)), and the new refresh token is lost")
            }
            try expect(result.refreshToken?.isEmpty == false, otherwise: "the new refresh token is missing")
            try expect(result.refreshToken != issued.refreshToken, otherwise: "it carries the old refresh token")
            try expect(result.accessToken != issued.accessToken, otherwise: "it carries the old access token")
        },
    ]

    private static let verdicts: [ContractRule<any RefreshBackend>] = [
        ContractRule("G4: a refused refresh token is TokenRefreshError with code rejected") { backend in
            guard let error = try await backend.error(after: .rejected) else { return }
            guard let verdict = error as? TokenRefreshError else {
                throw RuleBroken("it threw \(type(of: error)), which keeps a dead session")
            }
            try expect(verdict.code == .rejected, otherwise: "its code is \(verdict.code)")
        },
        rule("G4: a bare 401 is no rejection", failing: [.ambiguous]),
        rule("G4: a gateway's 403 is no rejection", failing: [.forbidden, .emptyForbidden]),
        rule(
            "G4: a page of HTML is an error, and no rejection, with any status",
            failing: RefreshBackendResponse.allPages),
        rule("G4: a failing server is no rejection", failing: [.unavailable]),
        rule("G4: too many requests are no rejection", failing: [.tooManyRequests]),
        ContractRule("G6: Retry-After reaches the engine") { backend in
            guard let error = try await backend.error(after: .tooManyRequests) else { return }
            let pause = (error as? TokenRefreshError)?.retryAfter
            try expect(pause == .seconds(7), otherwise: "retryAfter is \(pause.map { "\($0)" } ?? "missing")")
        },
        rule("G4: a cut connection is no rejection", failing: [.unreachable]),
        rule("G4: a response that cannot be read is an error, and no rejection", failing: [.garbage]),
        ContractRule("G15: a redirect is an error and no rejection, and is not followed") { backend in
            for redirect in RefreshBackendResponse.allRedirects {
                try await backend.expectUnavailable(after: redirect)
                let followers = (backend as? any RedirectingRefreshBackend)?.followers ?? 0
                try expect(followers == 0, otherwise: "it followed the response (\(redirect))")
            }
        },
        ContractRule("a failure is not remembered: the next call reaches the server") { backend in
            for response in [
                RefreshBackendResponse.unavailable, .unreachable, .garbage, .ambiguous, .page(200), .rejected,
            ] {
                guard try await backend.error(after: response) != nil else { continue }
                _ = try await backend.respond(with: .tokens)
                let result = try await backend.refreshed(try await backend.signIn())
                try expect(!result.accessToken.isEmpty, otherwise: "after \(response) it has no access token")
            }
        },
        ContractRule("G17: no description or dump of an error shows a token or the key") { backend in
            for response in RefreshBackendResponse.failures {
                let request = TokenRefreshRequest(renewing: try await backend.signIn())
                guard let error = try await backend.error(after: response, to: request) else { continue }
                let secrets = [request.accessToken, request.refreshToken, request.idempotencyKey]
                try expectHidden(secrets, in: error) { "the \($0) of its error after \(response) shows a secret" }
            }
        },
    ]

    private static let calls: [ContractRule<any RefreshBackend>] = [
        ContractRule("G8: a cancelled call ends, is no rejection, and leaves the handler usable") { backend in
            guard try await backend.respond(with: .nothing) else { return }
            let (issued, handler) = (try await backend.signIn(), backend.handler)
            let recorder = backend as? any KeyRecordingRefreshBackend
            for isUnderWay in [false, true] {
                let before = try await recorder?.receivedKeys().count
                let call = Task { try await handler.refresh(TokenRefreshRequest(renewing: issued)) }
                if isUnderWay, recorder == nil { for _ in 0..<1_000 { await Task.yield() } }
                while isUnderWay, let recorder, try await recorder.receivedKeys().count == before {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                call.cancel()
                switch await call.result {
                case .success: throw RuleBroken("it returned tokens that were not issued")
                case .failure(let error): try expectNoRejection(error, "a cancellation")
                }
            }
            _ = try await backend.respond(with: .tokens)
            _ = try await backend.refreshed(try await backend.signIn())
        },
        ContractRule("concurrent calls are independent: each gets the tokens of its own session") { backend in
            var sessions: [TokenRefreshResult] = []
            for _ in 0..<16 { sessions.append(try await backend.signIn()) }
            let handler = backend.handler
            let results = try await withThrowingTaskGroup(of: (Int, TokenRefreshResult).self) { group in
                for (index, session) in sessions.enumerated() {
                    group.addTask { (index, try await handler.refresh(TokenRefreshRequest(renewing: session))) }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            let distinct = Set(results.values.map(\.accessToken)).count
            try expect(distinct == sessions.count, otherwise: "16 sessions got \(distinct) access tokens")
            for (index, result) in results {
                let (mine, got) = (sessions[index].accessToken, result.accessToken)
                guard let mine = backend.session(of: mine) else { break }
                try expect(backend.session(of: got) == mine, otherwise: "a session got the tokens of another")
            }
        },
    ]

    /// A rule that responses are errors and no rejections.
    private static func rule(
        _ name: String, failing responses: [RefreshBackendResponse]
    ) -> ContractRule<any RefreshBackend> {
        ContractRule(name) { backend in
            for response in responses { try await backend.expectUnavailable(after: response) }
        }
    }

    static func expectNoRejection(_ error: any Error, _ occasion: String) throws(RuleBroken) {
        let verdict = TokenRefreshError.verdict(of: error)
        try expect(verdict.code != .rejected, otherwise: "\(occasion) counts as a rejection")
    }
}

extension TokenRefreshRequest {
    /// The request of an engine for issued tokens, with a new key.
    init(renewing tokens: TokenRefreshResult, orWith older: String? = nil) {
        self.init(
            refreshToken: tokens.refreshToken ?? older ?? "", accessToken: tokens.accessToken,
            idempotencyKey: UUID().uuidString)
    }
}

extension RefreshBackend {
    /// Refreshes with the refresh token of a response, or with an older one if the response has none.
    func refreshed(_ tokens: TokenRefreshResult, orWith older: String? = nil) async throws -> TokenRefreshResult {
        guard tokens.refreshToken ?? older != nil else {
            throw RuleBroken("the backend signed in without a refresh token")
        }
        return try await handler.refresh(TokenRefreshRequest(renewing: tokens, orWith: older))
    }

    /// The error of the handler after a response; `nil` if the backend cannot respond so.
    func error(
        after response: RefreshBackendResponse, to request: TokenRefreshRequest? = nil
    ) async throws -> (any Error)? {
        let request = if let request { request } else { TokenRefreshRequest(renewing: try await signIn()) }
        guard !request.refreshToken.isEmpty else { throw RuleBroken("the backend signed in without a refresh token") }
        guard try await respond(with: response) else { return nil }
        let result: TokenRefreshResult
        do { result = try await handler.refresh(request) } catch { return error }
        throw RuleBroken("it returned \(result) for the response (\(response))")
    }

    fileprivate func expectUnavailable(after response: RefreshBackendResponse) async throws {
        guard let error = try await error(after: response) else { return }
        try TokenRefreshHandlerRules.expectNoRejection(error, "the response (\(response))")
    }
}
