import AuthInterface
import OAuth2Flows
import TokenRefresh

// The sample of the article *A command line that signs in*.

func run(
    _ session: TokenRefreshCoordinator, _ device: OAuth2DeviceSignIn, _ work: () async throws -> Void
) async throws {
    if case .signedOut = try await session.restore() {
        try await device.start(session) { code in
            print("Open \(code.verificationURI) and enter \(code.userCode)")
        }
    }
    do {
        try await work()
    } catch {
        await session.settle(within: .seconds(20))
        throw error
    }
    await session.settle(within: .seconds(20))  // a refresh under way has the only valid token
}
