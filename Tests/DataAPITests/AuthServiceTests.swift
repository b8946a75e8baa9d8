import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import NetworkTesting
import Testing

@Suite struct AuthServiceTests {
    private let unauthenticated = StubNetworkService()
    private let network = StubNetworkService()
    private let ada = User(id: 3, name: "Ada")
    private let tokens = TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh")

    private func service(_ session: SessionDouble) -> AuthService {
        AuthService(unauthenticated: unauthenticated, network: network, session: session)
    }

    @Test func `a guest's tokens start the session`() async throws {
        let session = SessionDouble(.signedOut(.never))
        let login = Endpoint.registerGuest(name: "Ada", photo: Data())
        unauthenticated.on(login, return: SignedIn(user: ada, tokens: IssuedTokens(tokens)))
        let (progress, continuation) = AsyncStream.makeStream(of: TransferProgress.self)
        let user = try await service(session).registerGuest(name: "Ada", photo: Data()) { continuation.yield($0) }
        continuation.finish()
        #expect(user == ada)
        #expect(session.signIns == [tokens])
        #expect(await progress.reduce(0) { count, _ in count + 1 } == 1)
        #expect(network.log.isEmpty, "a login is sent without tokens")
    }

    @Test func `a failed login does not change the session`() async throws {
        let session = SessionDouble(.signedIn(SessionID(rawValue: "before")))
        unauthenticated.on(.socialLogin(.apple, token: "fixture"), throw: NetworkError(.connectionFailed))
        await #expect(throws: NetworkError.self) {
            try await service(session).socialLogin(.apple, token: "fixture")
        }
        #expect(session.signIns.isEmpty)
        #expect(session.state == .signedIn(SessionID(rawValue: "before")))
    }

    @Test func `a logout ends the session`() async throws {
        let session = SessionDouble(.signedIn(SessionID(rawValue: "fixture")))
        try await service(session).logout()
        #expect(session.signOuts == 1)
    }

    @Test func `a stored session that the server accepts leads to the main screen`() async throws {
        network.on(.me, return: ada)
        let outcome = try await service(SessionDouble(.signedIn(SessionID(rawValue: "fixture")))).autoLogin()
        guard case .signedIn(let user) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(user == ada)
        #expect(network.log == ["GET users/me"])
    }

    @Test func `without a stored session nothing is sent`() async throws {
        let outcome = try await service(SessionDouble(.signedOut(.never))).autoLogin()
        guard case .login(.never) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(network.log.isEmpty)
        #expect(unauthenticated.log.isEmpty)
    }

    @Test func `a session that ends during the check leads to the login screen`() async throws {
        let session = SessionDouble(.signedIn(SessionID(rawValue: "fixture")))
        network.on(.me) {
            session.end(.expired())
            throw NetworkError(.sessionEnded)
        }
        let outcome = try await service(session).autoLogin()
        guard case .login(.expired) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test func `an unreachable server does not sign the user out`() async throws {
        let session = SessionDouble(.signedIn(SessionID(rawValue: "fixture")))
        network.on(.me, throw: NetworkError(.connectionFailed))
        let outcome = try await service(session).autoLogin()
        guard case .unverified(let error) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.code == .connectionFailed)
        #expect(session.signOuts == 0)
    }

    @Test func `an unavailable store does not lead to the login screen`() async throws {
        let session = SessionDouble(.unknown) { throw AuthenticationError(.storeUnavailable) }
        await #expect(throws: AuthenticationError.self) { try await service(session).autoLogin() }
        #expect(network.log.isEmpty)
    }
}
