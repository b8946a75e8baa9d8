import AuthInterface
import ContractTesting

// Lost responses (G12): the missing status, the idempotency key, and the declared replay tolerance.
extension TokenRefreshHandlerRules {
    static let replays: [ContractRule<any RefreshBackend>] = [
        ContractRule("G12: an error without a response has no status") { backend in
            for response in [RefreshBackendResponse.unreachable, .lostResponse] {
                guard let error = try await backend.error(after: response) else { continue }
                try expectNoRejection(error, "the response (\(response))")
                let status = (error as? TokenRefreshError)?.status
                try expect(
                    status == nil,
                    otherwise:
                        "after \(response) its status is \(status ?? 0), which hides the lost response from the engine")
            }
        },
        ContractRule("G12: a call whose response is lost ends soon, and is sent once") { backend in
            _ = try await backend.refreshed(try await backend.signIn())
            let recording = backend as? any KeyRecordingRefreshBackend
            let start = try await recording?.receivedKeys().count ?? 0
            for number in 1...3 {
                guard try await backend.error(after: .lostResponse) != nil else { return }
                let calls = try await recording?.receivedKeys().count ?? (start + number)
                try expect(calls == start + number, otherwise: "\(number) refreshes made \(calls - start) calls")
                _ = try await backend.respond(with: .tokens)
            }
        },
        ContractRule("G12: a request sends its own key, the same each time") { backend in
            guard let backend = backend as? any KeyRecordingRefreshBackend else { return }
            let handler = backend.handler
            let request = TokenRefreshRequest(renewing: try await backend.signIn())
            let other = TokenRefreshRequest(renewing: try await backend.signIn())
            let start = try await backend.receivedKeys().count
            for request in [request, request, other] { _ = try? await handler.refresh(request) }
            let keys = Array(try await backend.receivedKeys().dropFirst(start))
            try expect(keys.count == 3, otherwise: "the backend recorded \(keys.count) calls instead of 3")
            if handler.replayTolerance == .sameKey {
                let missing = keys.filter { $0?.isEmpty ?? true }.count
                try expect(missing == 0, otherwise: "it declares .sameKey, and \(missing) of 3 calls carry no key")
            }
            try expect(keys[0] == keys[1], otherwise: "the same request carries another key the second time")
            try expect(keys[0] == nil || keys[0] != keys[2], otherwise: "two requests carry the same key")
        },
        ContractRule("G12: with replayTolerance .sameKey, the same request returns the same tokens again") { backend in
            guard backend.handler.replayTolerance == .sameKey else { return }
            let request = TokenRefreshRequest(renewing: try await backend.signIn())
            let first = try await backend.handler.refresh(request)
            let second = try await backend.replayed(request)
            try expect(first.accessToken == second.accessToken, otherwise: "it returned another access token")
            try expect(first.refreshToken == second.refreshToken, otherwise: "it returned another refresh token")
            try await backend.expectToContinue(with: second, after: request)
            try await backend.expectRecovery()
        },
        ContractRule("G12: with replayTolerance .within, the same refresh token returns tokens again") { backend in
            guard case .within(let time) = backend.handler.replayTolerance else { return }
            try expect(time > .zero, otherwise: "the time is not positive")
            let request = TokenRefreshRequest(renewing: try await backend.signIn())
            _ = try await backend.handler.refresh(request)
            try await backend.expectToContinue(with: try await backend.replayed(request), after: request)
            try await backend.expectRecovery()
        },
    ]
}

extension RefreshBackend {
    /// Uses a refresh token a second time, as the declared replay tolerance allows.
    fileprivate func replayed(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        do { return try await handler.refresh(request) } catch {
            let code = TokenRefreshError.verdict(of: error).code
            throw RuleBroken("it declares \(handler.replayTolerance), and the second use is \(code)")
        }
    }

    /// Checks that the session has not ended because of the second use.
    fileprivate func expectToContinue(with tokens: TokenRefreshResult, after request: TokenRefreshRequest) async throws
    {
        do { _ = try await refreshed(tokens, orWith: request.refreshToken) } catch {
            throw RuleBroken("after the second use, the next refresh is \(TokenRefreshError.verdict(of: error).code)")
        }
    }

    /// Loses a response and sends the same request again.
    fileprivate func expectRecovery() async throws {
        let request = TokenRefreshRequest(renewing: try await signIn())
        guard let error = try await error(after: .lostResponse, to: request) else { return }
        try TokenRefreshHandlerRules.expectNoRejection(error, "a lost response")
        _ = try await respond(with: .tokens)
        try await expectToContinue(with: try await replayed(request), after: request)
    }
}
