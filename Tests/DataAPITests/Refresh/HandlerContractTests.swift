import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import NetworkCore
import Testing

@Suite struct HandlerContractTests {
    static let tolerances: [ReplayTolerance] = [.none, .within(.seconds(10)), .sameKey]

    @Test("the REST handler honours the contract, over servers that forgive more and less", arguments: tolerances)
    func rest(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check { RESTBackend(tolerance) }
    }

    @Test("the OAuth 2.0 handler honours the contract, over servers that forgive more and less", arguments: tolerances)
    func oauth2(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check { OAuth2Backend(tolerance) }
    }

    @Test("a handler that declares what its server does not do is caught")
    func declaredOnly() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await TokenRefreshHandlerContract.check {
                RESTBackend(.sameKey, over: TokenServer(.rest, RotatingTokenServer()))
            }
        }
        #expect(try #require(violation).brokenRules.map(\.name).allSatisfy { $0.hasPrefix("G12: ") })
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

private struct RESTBackend: TokenServerBackend {
    let server: TokenServer
    let tolerance: ReplayTolerance

    init(_ tolerance: ReplayTolerance, over server: TokenServer? = nil) {
        self.server = server ?? TokenServer(.rest, RotatingTokenServer(forgiving: tolerance))
        self.tolerance = tolerance
    }

    var handler: RESTTokenRefreshHandler {
        RESTTokenRefreshHandler(network: NetworkClient(server), replayTolerance: tolerance, accessToken: .bearer)
    }
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
