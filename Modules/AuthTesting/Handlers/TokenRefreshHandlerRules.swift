import AuthInterface

/// The rules of ``TokenRefreshHandlerContract``.
enum TokenRefreshHandlerRules {
    static let all = tokens + verdicts + calls

    /// How long a call is given to get under way before it is cancelled. No rule passes because of it.
    private static let brief: Duration = .milliseconds(50)

    private static let tokens: [ContractRule<any RefreshBackend>] = [
        ContractRule("a good refresh token buys an access token that a header field can carry") { backend in
            let result = try await backend.refreshed(try await backend.signIn())
            try expect(!result.accessToken.isEmpty, otherwise: "the access token is empty")
            let isPrintable = result.accessToken.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            try expect(isPrintable, otherwise: "the access token has characters no header field can carry")
        },
        ContractRule("a lifetime, where there is one, is positive") { backend in
            let result = try await backend.refreshed(try await backend.signIn())
            try expect(result.expiresIn.map { $0 > .zero } ?? true, otherwise: "expiresIn is not positive")
        },
        ContractRule("the result carries the refresh token that is good from now on") { backend in
            let first = try await backend.signIn()
            let second = try await backend.refreshed(first)
            if backend.rotatesRefreshTokens {
                try expect(second.refreshToken != nil, otherwise: "the new refresh token is missing")
                try expect(second.refreshToken != first.refreshToken, otherwise: "it carries the spent refresh token")
            }
            try expect(second.refreshToken != "", otherwise: "the refresh token is empty instead of nil")
            let third = try await backend.refreshed(second, orWith: first.refreshToken)
            try expect(!third.accessToken.isEmpty, otherwise: "the next access token is empty")
        },
        ContractRule("an answer with an empty access token is an error, and not a rejection") { backend in
            try await backend.expectUnavailable(after: .emptyAccessToken)
        },
    ]

    private static let verdicts: [ContractRule<any RefreshBackend>] = [
        ContractRule("G4: the server's own no is TokenRefreshError with code rejected") { backend in
            guard let error = try await backend.error(after: .rejected) else { return }
            guard let verdict = error as? TokenRefreshError else {
                throw RuleBroken("it threw \(type(of: error)), which leaves a dead session alive")
            }
            try expect(verdict.code == .rejected, otherwise: "its code is \(verdict.code)")
        },
        ContractRule("G4: a server in trouble is no rejection") { backend in
            try await backend.expectUnavailable(after: .unavailable)
        },
        ContractRule("G4: too many requests are no rejection") { backend in
            try await backend.expectUnavailable(after: .tooManyRequests)
        },
        ContractRule("G6: Retry-After reaches the engine") { backend in
            guard let error = try await backend.error(after: .tooManyRequests) else { return }
            let asked = (error as? TokenRefreshError)?.retryAfter
            try expect(asked == .seconds(7), otherwise: "retryAfter is \(asked.map { "\($0)" } ?? "missing")")
        },
        ContractRule("G4: a cut connection is no rejection") { backend in
            try await backend.expectUnavailable(after: .unreachable)
        },
        ContractRule("G4: an answer that cannot be read is an error, and no rejection") { backend in
            try await backend.expectUnavailable(after: .garbage)
        },
        ContractRule("a failure is not remembered: the next call asks the server again") { backend in
            for answer in [RefreshBackendAnswer.unavailable, .unreachable, .garbage, .rejected] {
                guard try await backend.error(after: answer) != nil else { continue }
                _ = try await backend.answer(.tokens)
                let result = try await backend.refreshed(try await backend.signIn())
                try expect(!result.accessToken.isEmpty, otherwise: "after \(answer) it has no access token")
            }
        },
        ContractRule("G17: no error shows a token, in words or in a dump") { backend in
            for answer in RefreshBackendAnswer.allCases where answer != .tokens && answer != .nothing {
                let issued = try await backend.signIn()
                guard let error = try await backend.error(after: answer, with: issued) else { continue }
                let bundle = TokenBundle(accessToken: issued.accessToken, refreshToken: issued.refreshToken)
                if let view = leak(of: bundle, in: error) {
                    throw RuleBroken("the \(view) of its error after \(answer) shows a token")
                }
            }
        },
    ]

    private static let calls: [ContractRule<any RefreshBackend>] = [
        ContractRule("G8: a cancelled call ends, is no rejection, and leaves the handler in order") { backend in
            guard try await backend.answer(.nothing) else { return }
            let (issued, handler) = (try await backend.signIn(), backend.handler)
            for isUnderWay in [false, true] {
                let call = Task { try await handler.refresh(TokenRefreshRequest(refreshToken: issued.refreshToken ?? "")) }
                if isUnderWay { try await Task.sleep(for: brief) }
                call.cancel()
                switch await call.result {
                case .success: throw RuleBroken("it returned tokens that nobody issued")
                case .failure(let error): try expectNoRejection(error, "being cancelled")
                }
            }
            _ = try await backend.answer(.tokens)
            _ = try await backend.refreshed(try await backend.signIn())
        },
        ContractRule("concurrent calls are independent: each gets the tokens of its own session") { backend in
            var sessions: [TokenRefreshResult] = []
            for _ in 0..<16 { sessions.append(try await backend.signIn()) }
            let handler = backend.handler
            let results = try await withThrowingTaskGroup(of: (Int, TokenRefreshResult).self) { group in
                for (index, session) in sessions.enumerated() {
                    group.addTask {
                        (index, try await handler.refresh(TokenRefreshRequest(refreshToken: session.refreshToken ?? "")))
                    }
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

    static func expectNoRejection(_ error: any Error, _ occasion: String) throws(RuleBroken) {
        let verdict = TokenRefreshError.verdict(of: error)
        try expect(verdict.code != .rejected, otherwise: "\(occasion) is taken for a rejection")
    }
}

extension RefreshBackend {
    /// Refreshes with the refresh token of an earlier answer, or with the one before if that brought none.
    fileprivate func refreshed(
        _ tokens: TokenRefreshResult,
        orWith older: String? = nil
    ) async throws -> TokenRefreshResult {
        guard let refreshToken = tokens.refreshToken ?? older else {
            throw RuleBroken("the backend signed in without a refresh token")
        }
        return try await handler.refresh(TokenRefreshRequest(refreshToken: refreshToken))
    }

    /// What the handler throws when the backend answers in a way; `nil` if it cannot be made to.
    fileprivate func error(
        after way: RefreshBackendAnswer,
        with issued: TokenRefreshResult? = nil
    ) async throws -> (any Error)? {
        let issued = if let issued { issued } else { try await signIn() }
        guard try await answer(way) else { return nil }
        let result: TokenRefreshResult
        do {
            result = try await refreshed(issued)
        } catch let error as RuleBroken {
            throw error
        } catch {
            return error
        }
        throw RuleBroken("it made \(result) of the answer (\(way))")
    }

    fileprivate func expectUnavailable(after way: RefreshBackendAnswer) async throws {
        guard let error = try await error(after: way) else { return }
        try TokenRefreshHandlerRules.expectNoRejection(error, "the answer (\(way))")
    }
}
