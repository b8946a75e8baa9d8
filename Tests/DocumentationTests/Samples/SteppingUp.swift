import AuthInterface
import NetworkCore
import OAuth2Flows
import TokenRefresh

// The sample of the article *When a call needs another sign-in*, and the one of *Sign in* that is like it.

extension Endpoint<Void> {
    fileprivate static func transfer(_ amount: Int) -> Self { .post("transfers", body: .json(["amount": amount])) }
}

private struct SteppingUp {
    func signIn(again challenge: StepUpChallenge) async throws -> TokenRefreshResult {
        TokenRefreshResult(accessToken: challenge.acrValues.first ?? "")
    }

    func transfer(_ amount: Int, over network: any NetworkService, in session: any AuthSession) async throws {
        var options = RequestOptions()
        options.continuity = SessionContinuity()
        do {
            try await network.send(.transfer(amount), options: options)
        } catch let error as NetworkError {
            guard let challenge = error.stepUp else { throw error }
            try await session.stepUp(try await signIn(again: challenge))
            try await network.send(.transfer(amount), options: options)
        }
    }

    #if canImport(CryptoKit) || Crypto
    func transfer(
        _ amount: Int, over network: any NetworkService, in session: TokenRefreshCoordinator,
        _ codeSignIn: OAuth2CodeSignIn, _ userAgent: LoopbackUserAgent
    ) async throws {
        do {
            return try await network.send(.transfer(amount))
        } catch let error as NetworkError {
            guard let challenge = error.stepUp else { throw error }
            try await codeSignIn.stepUp(session, for: challenge, with: userAgent)
            return try await network.send(.transfer(amount))
        }
    }
    #endif
}
