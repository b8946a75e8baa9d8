// swift-format-ignore-file: NeverForceUnwrap

import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import NetworkCore
import NetworkTesting
import NetworkURLSession
import Storage
import Testing
import TokenRefresh

// The samples of the article *Test your app*, and of the page of `NetworkTesting`: they are tests that run.

@Suite(.timeLimit(.minutes(10))) struct TestingYourAppTests {
    private let url = URL(string: "https://api.example.com/v1")!

    @Test func `the list shows what the server sends`() async throws {
        let network = StubNetworkService()
        network.on(.notes, return: [Note(id: 1, text: "Milk")])
        let notes = try await network.send(.notes)
        #expect(notes.map(\.text) == ["Milk"])
    }

    @Test func `a screen follows the end of a session`() async throws {
        let session = StubSession()
        session.fail(.refresh, with: AuthenticationError(.refreshUnavailable))
        await #expect(throws: AuthenticationError.self) { try await session.refresh() }
        #expect(session.calls == [.refresh])
        session.state = .signedOut(.expired())  // every reader of `states` receives it
    }

    @Test(
        .stubs(
            .post("login") ~> .json(["accessToken": "access-0", "refreshToken": "refresh-0"]),
            .get("notes") ~> .status(401),
            .post("auth/refresh") ~> .json(["accessToken": "access-1", "refreshToken": "refresh-1"]),
            .get("notes") ~> .json([Note(id: 1, text: "Milk")])))
    func `an expired token is refreshed once, and the request is sent again`() async throws {
        let services = Services(url: url, transport: StubTransport.current, store: MemoryTokenStore())
        try await services.signIn("ada", password: "of the user")
        #expect(try await services.network.send(.notes).count == 1)
        let sent = StubTransport.current.requests.map { $0.headers["Authorization"] }
        #expect(sent == [nil, "Bearer access-0", nil, "Bearer access-1"])
    }

    @Test func `a rejected refresh token ends the session, and the reason is known`() async throws {
        let rejection = TokenRefreshError(.rejected, status: 400, serverCode: "invalid_grant")
        let handler = ScriptedRefreshHandler(.failure(rejection))
        let session = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
        try await session.signIn(.fixture())
        guard case .signedOut(.expired(let ending)) = try await session.refresh() else { throw rejection }
        #expect(ending.code == "invalid_grant" && ending.status == 400)
    }

    @Test func `while the store cannot be read, no user is signed out`() async throws {
        let store = FaultyTokenStore(MemoryTokenStore(holding: .fixture()))
        store.fail(.load)
        let session = TokenRefreshCoordinator(store: store, handler: ScriptedRefreshHandler())
        await #expect(throws: AuthenticationError.self) { try await session.restore() }
        #expect(session.state == .unknown)
        store.recover(.load)
        #expect(try await session.restore() != .signedOut(.never))
    }

    @Test(.stubs(.get("notes") ~> .status(503), .get("notes") ~> .json([Note(id: 1, text: "Milk")])))
    func `a server that is busy is asked again`() async throws {
        let policy = RetryPolicy(attempts: 2, baseDelay: .zero)
        let network = NetworkClient(baseURL: url, transport: StubTransport.current, interceptors: [policy])
        #expect(try await network.send(.notes).count == 1)
    }

    // Compiled, and run by the tests of the two modules.
    private func proofs() async throws {
        try await TokenRefreshHandlerContract.check(.rest) { url in
            RESTTokenRefreshHandler(network: NetworkClient(baseURL: url, transport: URLSessionTransport()))
        }
        try await TokenStoreContract.check { MemoryTokenStore() }
    }
}
