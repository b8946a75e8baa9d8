import AuthInterface
import AuthTesting
import Testing

/// A contract that no handler can break proves nothing.
@Suite struct HandlerContractSuiteTests {
    @Test("a handler that keeps the rules passes")
    func passes() async throws {
        try await TokenRefreshHandlerContract.check { BentRefreshBackend() }
    }

    @Test("rules whose answer the backend cannot bring about are left out")
    func leftOut() async throws {
        try await TokenRefreshHandlerContract.check {
            var backend = BentRefreshBackend()
            backend.unsupported = Set(RefreshBackendAnswer.allCases).subtracting([.tokens])
            backend.onRefresh = { endpoint, refreshToken in
                try endpoint.server.refresh(refreshToken)
            }
            return backend
        }
    }

    @Test("each rule catches a handler that breaks it", arguments: RefreshHandlerMutant.all)
    func catches(mutant: RefreshHandlerMutant) async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await TokenRefreshHandlerContract.check(patience: .seconds(3)) { mutant.backend() }
        }
        let broken = try #require(violation).brokenRules.map(\.name)
        #expect(broken.contains(mutant.rule), "\(broken)")
        #expect(!"\(try #require(violation))".contains("refresh-ada"), "the report shows a token")
    }

    @Test("every rule has a handler that breaks it")
    func complete() {
        #expect(Set(RefreshHandlerMutant.all.map(\.rule)) == Set(TokenRefreshHandlerContract.rules))
    }

    @Test("a violation names the handler, the rule and what was seen")
    func report() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await TokenRefreshHandlerContract.check {
                var backend = BentRefreshBackend()
                backend.onRefresh = { try await $0.refreshProperly($1).withoutRefreshToken }
                return backend
            }
        }
        let text = "\(try #require(violation))"
        #expect(text.contains("BentRefreshHandler breaks 1 of the rules of TokenRefreshHandlerContract"))
        #expect(text.contains("the new refresh token is missing"))
    }
}

extension TokenRefreshResult {
    fileprivate var withoutRefreshToken: Self { Self(accessToken: accessToken, expiresIn: expiresIn) }
}
