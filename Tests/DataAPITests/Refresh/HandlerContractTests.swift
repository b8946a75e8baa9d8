import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import Testing

@Suite struct HandlerContractTests {
    static let tolerances: [ReplayTolerance] = [.none, .within(.seconds(10)), .sameKey]

    @Test(arguments: tolerances)
    func `the REST handler keeps the contract with every replay tolerance`(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check { RESTBackend(tolerance) }
    }

    @Test func `a handler that declares a tolerance its server does not have breaks G12`() async throws {
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
