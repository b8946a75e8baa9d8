import AuthInterface

// What becomes of a response that is lost (G12): the status that tells it, the key, and what the server forgives.
extension TokenRefreshHandlerRules {
    static let replays: [ContractRule<any RefreshBackend>] = [
        ContractRule("G12: an error without a response has no status") { backend in
            for response in [RefreshBackendResponse.unreachable, .lostResponse] {
                guard let error = try await backend.error(after: response) else { continue }
                try expectNoRejection(error, "the response (\(response))")
                let status = (error as? TokenRefreshError)?.status
                try expect(
                    status == nil,
                    otherwise: "after \(response) it says HTTP \(status ?? 0), and the engine cannot see the loss"
                )
            }
        },
        ContractRule("G12: a call whose response is lost ends soon, and is made once") { backend in
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
            try await checkKeys(of: backend)
        },
        ContractRule("G12: with replayTolerance .sameKey, the same request brings the same tokens again") { backend in
            guard backend.handler.replayTolerance == .sameKey else { return }
            let request = TokenRefreshRequest(renewing: try await backend.signIn())
            let first = try await backend.handler.refresh(request)
            let second = try await backend.replayed(request)
            try expect(first.accessToken == second.accessToken, otherwise: "it brought another access token")
            try expect(first.refreshToken == second.refreshToken, otherwise: "it brought another refresh token")
            try await backend.expectToGoOn(with: second, after: request)
            try await backend.expectRecovery()
        },
        ContractRule("G12: with replayTolerance .within, the same refresh token brings tokens again") { backend in
            guard case .within(let time) = backend.handler.replayTolerance else { return }
            try expect(time > .zero, otherwise: "the time is not positive")
            let request = TokenRefreshRequest(renewing: try await backend.signIn())
            _ = try await backend.handler.refresh(request)
            try await backend.expectToGoOn(with: try await backend.replayed(request), after: request)
            try await backend.expectRecovery()
        },
    ]

    private static func checkKeys(of backend: some KeyRecordingRefreshBackend) async throws {
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
    }
}

extension RefreshBackend {
    /// The second use of a refresh token that the handler says the server forgives.
    fileprivate func replayed(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        do {
            return try await handler.refresh(request)
        } catch {
            let code = TokenRefreshError.verdict(of: error).code
            throw RuleBroken("it declares \(handler.replayTolerance), and the second use is \(code)")
        }
    }

    /// The session must not have ended because of the second use.
    fileprivate func expectToGoOn(with tokens: TokenRefreshResult, after request: TokenRefreshRequest) async throws {
        do {
            _ = try await refreshed(tokens, orWith: request.refreshToken)
        } catch {
            throw RuleBroken("after the second use, the next refresh is \(TokenRefreshError.verdict(of: error).code)")
        }
    }

    /// A response is lost, and the same request is made again.
    fileprivate func expectRecovery() async throws {
        let request = TokenRefreshRequest(renewing: try await signIn())
        guard let error = try await error(after: .lostResponse, to: request) else { return }
        try TokenRefreshHandlerRules.expectNoRejection(error, "a lost response")
        _ = try await respond(with: .tokens)
        try await expectToGoOn(with: try await replayed(request), after: request)
    }
}
