import AuthInterface
import AuthTesting
import Foundation
import HandlerTesting
import NetworkCore
import OAuth2Flows
import Testing

@Suite struct HandlerContractTests {
    static let tolerances: [ReplayTolerance] = [.none, .within(.seconds(10)), .sameKey]

    @Test(arguments: tolerances)
    func `the OAuth 2.0 handler keeps the contract with every replay tolerance`(_ tolerance: ReplayTolerance)
        async throws
    {
        try await TokenRefreshHandlerContract.check { OAuth2Backend(tolerance) }
    }

}

extension RotatingTokenServer {
    fileprivate convenience init(forgiving tolerance: ReplayTolerance) {
        switch tolerance {
        case .none: self.init()
        case .within: self.init(hasGraceWindow: true)
        case .sameKey: self.init(honoursKeys: true)
        }
    }
}

private protocol TokenServerBackend: KeyRecordingRefreshBackend {
    var server: TokenServer { get }
}

extension TokenServerBackend {
    func signIn() -> TokenRefreshResult { server.signIn() }

    func answer(_ answer: RefreshBackendResponse) -> Bool {
        server.answer(answer)
        return true
    }

    func session(of accessToken: String) -> String? {
        accessToken.split(separator: "-").dropFirst().first.map(String.init)
    }

    func receivedKeys() -> [String?] { server.receivedKeys }
}

private struct OAuth2Backend: TokenServerBackend {
    let server: TokenServer
    let tolerance: ReplayTolerance

    init(_ tolerance: ReplayTolerance) {
        server = TokenServer(.oauth2, RotatingTokenServer(forgiving: tolerance))
        self.tolerance = tolerance
    }

    var handler: OAuth2TokenRefreshHandler {
        OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, client: .public(id: "fixture-client"), network: NetworkClient(server),
            replayTolerance: tolerance)
    }
}
