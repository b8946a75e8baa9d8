import AuthInterface
import AuthTesting
import ContractTesting
import Testing

/// The contract suite of refresh handlers passes a correct handler and catches every mutant.
@Suite(.timeLimit(.minutes(10))) struct HandlerContractSuiteTests {
    @Test(arguments: [ReplayTolerance.none, .sameKey, .within(.seconds(10))])
    func `a handler that keeps every rule and declares its server's tolerance passes`(
        tolerance: ReplayTolerance
    ) async throws {
        try await TokenRefreshHandlerContract.check(timeLimit: .seconds(300)) {
            AlteredRefreshHandler(endpoint: TokenEndpoint(tolerating: tolerance), replayTolerance: tolerance)
        }
    }

    @Test func `rules whose response the backend cannot make are left out`() async throws {
        try await TokenRefreshHandlerContract.check(timeLimit: .seconds(300)) {
            var handler = AlteredRefreshHandler()
            handler.endpoint = TokenEndpoint(tolerating: .sameKey)
            handler.supports = { $0 == .tokens }
            handler.onRefresh = { endpoint, request in
                _ = try await endpoint.post(request)
                return try endpoint.server.refresh(request)
            }
            return handler
        }
    }

    @Test(arguments: RefreshHandlerMutants.all)
    func `each rule catches a handler that breaks it`(mutant: RefreshHandlerMutants.Mutant) async throws {
        let violation = await mutant.expectViolation { make in
            try await TokenRefreshHandlerContract.check(timeLimit: .seconds(3), makeBackend: make)
        }
        let text = "\(try #require(violation))"
        #expect(text.hasPrefix("AlteredRefreshHandler breaks "))
        #expect(!text.contains("refresh-ada"), "the report shows a token")
    }

    @Test func `every rule has a handler that breaks it`() {
        #expect(Set(RefreshHandlerMutants.all.map(\.rule)) == Set(TokenRefreshHandlerContract.rules))
    }
}
