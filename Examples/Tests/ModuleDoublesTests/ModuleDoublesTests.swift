import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import NetworkCore
import NetworkDoubles
import NetworkTesting
import Storage
import Testing
import TokenRefresh

/// For an application's tests: a double for each module, without a server. Copy the one that stands for what you do not
/// test. The article *Test your app* explains them, and has doubles for what takes time.
@Suite struct ModuleDoublesTests {
    /// Data: its service over a network that is a double, for what uses the service.
    @Test func `a data module over a network that is a double`() async throws {
        let network = StubNetworkService()
        network.on(.article(7), return: Article(id: 7, title: "Milk", content: "Two litres"))
        #expect(try await ArticleService(network: network).article(7).title == "Milk")
    }

    /// Network: a transport in place of the connection, for interceptors, tokens and retries.
    @Test(.stubs(.get("notes") ~> .status(401), .get("notes") ~> .json(["Milk"])))
    func `a client over a transport that is a double`() async throws {
        let url = try #require(URL(string: "https://api.example.com"))
        let session = StubSession()
        let network = NetworkClient(baseURL: url, transport: StubTransport.current).authenticated(by: session)
        #expect(try await network.send(Endpoint<[String]>.get("notes")) == ["Milk"])
        #expect(session.calls == [.token, .replacement])
    }

    /// Authentication: a session in place of the engine, for screens.
    @Test func `a screen over a session that is a double`() async throws {
        let session = StubSession()
        session.fail(.signOut, with: AuthenticationError(.storeUnavailable))
        await #expect(throws: AuthenticationError.self) { try await session.signOut() }
        #expect(session.state == .signedOut(.byUser))
    }

    /// Authentication: a refresh call in place of the server's, for what the engine makes of it.
    @Test func `an engine over a refresh call that is a double`() async throws {
        let handler = ScriptedRefreshHandler(.failure(TokenRefreshError.rejected))
        let session = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
        try await session.signIn(.fixture())
        #expect(try await session.refresh() == .signedOut(.expired()))
    }

    /// Storage: a store that fails in place of the Keychain or the file.
    @Test func `an engine over a store that is a double`() async throws {
        let store = FaultyTokenStore(MemoryTokenStore(holding: .fixture()))
        store.fail(.load)
        let session = TokenRefreshCoordinator(store: store, handler: ScriptedRefreshHandler())
        await #expect(throws: AuthenticationError.self) { try await session.restore() }
        #expect(session.state == .unknown)  // an unavailable store is no sign-out
        store.recover(.load)
        #expect(try await session.token().value == "access-ada1-0")
    }
}
