import AuthInterface
import AuthTesting
import Testing

/// A contract that no handler can break proves nothing.
@Suite struct HandlerContractSuiteTests {
    @Test("a handler that keeps the rules passes")
    func passes() async throws {
        try await TokenRefreshHandlerContract.check { BentRefreshBackend() }
    }

    @Test(arguments: [ReplayTolerance.sameKey, .within(.seconds(10))])
    func `a handler that declares its server's tolerance passes`(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check {
            BentRefreshBackend(endpoint: TokenEndpoint(tolerating: tolerance), replayTolerance: tolerance)
        }
    }

    @Test("rules whose answer the backend cannot bring about are left out")
    func leftOut() async throws {
        try await TokenRefreshHandlerContract.check {
            var backend = BentRefreshBackend()
            backend.endpoint = TokenEndpoint(tolerating: .sameKey)
            backend.unsupported = Set(RefreshBackendResponse.allCases).subtracting([.tokens])
            backend.onRefresh = { endpoint, request in
                _ = try await endpoint.post(request)
                return try endpoint.server.refresh(request)
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
        #expect(text.contains("BentRefreshHandler breaks 2 of the rules of TokenRefreshHandlerContract"))
        #expect(text.contains("the new refresh token is missing"))
    }
}

extension TokenRefreshResult {
    fileprivate var withoutRefreshToken: Self { Self(accessToken: accessToken, expiresIn: expiresIn) }
}
