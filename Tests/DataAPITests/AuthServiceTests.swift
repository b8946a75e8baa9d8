import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct AuthServiceTests {
    private let unauthenticated = StubNetworkService()
    private let network = StubNetworkService()
    private let ada = User(id: 3, name: "Ada")
    private let session = StubSession()
    private let guest = StubSession(.signedOut(.never))
    private let tokens = TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh")

    private func service(_ session: StubSession) -> AuthService {
        AuthService(unauthenticated: unauthenticated, network: network, session: session)
    }

    /// The outcome of a launch: the user's name, the reason of the end, or the code of the error.
    private func launch(_ session: StubSession, refreshing: Bool = true) async throws -> String {
        switch try await service(session).autoLogin(refreshing: refreshing) {
        case .signedIn(let user): "signed in: \(user?.name ?? "unknown")"
        case .signedOut(let reason): "signed out: \(reason.isExpired ? "expired" : "\(reason)")"
        case .undetermined(let error as NetworkError): "undetermined: \(error.code)"
        case .undetermined(let error as AuthenticationError): "undetermined: \(error.code)"
        case .undetermined(let error): "undetermined: \(error)"
        }
    }

    @Test func `a guest's tokens start the session`() async throws {
        let login = Endpoint.registerGuest(name: "Ada", photo: Data())
        unauthenticated.on(login, return: SignedIn(user: ada, tokens: IssuedTokens(tokens)))
        let (progress, continuation) = AsyncStream.makeStream(of: TransferProgress.self)
        let user = try await service(guest).registerGuest(name: "Ada", photo: Data()) { continuation.yield($0) }
        continuation.finish()
        #expect(user == ada)
        #expect(guest.signIns == [tokens])
        #expect(await progress.reduce(0) { count, _ in count + 1 } == 1)
        #expect(network.calls.isEmpty, "a login is sent without tokens")
    }

    /// The response to a social login, of which each has the tokens.
    private static let loginsWithoutUser = [
        "", #","user":null"#, #","user":{}"#, #","user":{"id":3}"#, #","user":{"id":true,"name":"Ada"}"#,
        #","user":"Ada""#, #","user":[],"expiresIn":{},"expiresAt":[]"#,
    ]

    private func socialLogin(_ member: String, _ session: StubSession) async throws -> User? {
        let body =
            #"{"success":true,"data":{"accessToken":"fixture-access","refreshToken":"fixture-refresh"\#(member)}}"#
        let server = NetworkClient(StubTransport(.post("auth/social/login") ~> .text(body)), .envelope)
        let service = AuthService(unauthenticated: server, network: network, session: session)
        return try await service.socialLogin(.kakao, token: "fixture")
    }

    @Test(arguments: loginsWithoutUser)
    func `DI11: tokens without a user who can be read start the session, and the user is asked for`(_ member: String)
        async throws
    {
        network.on(.me, return: ada)
        #expect(try await socialLogin(member, guest) == ada)
        #expect(guest.signIns.map(\.refreshToken) == ["fixture-refresh"] && network.calls == ["GET users/me"])
    }

    @Test func `DI11: a server that has no user to give signs in nevertheless`() async throws {
        network.on(.me, throw: NetworkError(.unacceptableStatus, response: HTTPResponseHead(status: 404)))
        #expect(try await socialLogin("", guest) == nil)
        #expect(guest.signIns.count == 1)
    }

    @Test func `DI11: a session that ends while its user is asked for is an error`() async throws {
        network.on(.me) {
            try await guest.signOut(reason: .byUser)
            throw NetworkError(.sessionEnded)
        }
        #expect(await networkError { _ = try await socialLogin("", guest) }?.code == .sessionEnded)
    }

    @Test func `G15: no call with a token follows a redirect, and each says so`() async throws {
        let transport = StubTransport(Array(repeating: .any ~> .redirect, count: 5))
        let network = NetworkClient(transport)
        let handler = RESTTokenRefreshHandler(network: network, accessToken: .bearer)
        let error = await handler.refreshError()
        #expect(error?.code == .unavailable && error?.status == 307)
        #expect(error.map { "\($0)".contains("redirect") } == true, "\(String(describing: error))")
        let service = AuthService(unauthenticated: network, network: network, session: guest)
        let calls: [@Sendable () async throws -> Void] = [
            { try await handler.revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh")) },
            { _ = try await service.socialLogin(.apple, token: "fixture-provider") },
            { _ = try await service.registerGuest(name: "Ada", photo: Data([1])) },
            { _ = try await service.upgradeGuest(.apple, token: "fixture-provider") },
        ]
        for call in calls {
            let error = await networkError { try await call() }
            #expect(error?.code == .redirectRefused && error?.status == 307)
        }
        #expect(guest.signIns.isEmpty && transport.requests.count == 5)
    }

    @Test func `a failed login does not change the session`() async throws {
        let session = StubSession(.signedIn(SessionID(rawValue: "before")))
        unauthenticated.on(.socialLogin(.apple, token: "fixture"), throw: NetworkError(.connectionFailed))
        await networkError { try await service(session).socialLogin(.apple, token: "fixture") }
        #expect(session.signIns.isEmpty)
        #expect(session.state == .signedIn(SessionID(rawValue: "before")))
    }

    @Test func `a logout ends the session`() async throws {
        try await service(session).logout()
        #expect(session.calls == [.signOut])
    }

    @Test func `a stored session that the server accepts leads to the main screen, refreshed once`() async throws {
        network.on(.me, return: ada)
        #expect(try await launch(session) == "signed in: Ada")
        #expect(network.calls == ["GET users/me"])
        #expect(session.calls == [.restore, .refresh])
    }

    @Test(arguments: [404, 403, 500])
    func `a refreshed session leads to the main screen where the server has no user`(_ status: Int) async throws {
        let response = HTTPResponseHead(status: status)
        for _ in 0..<2 { network.on(.me, throw: NetworkError(.unacceptableStatus, response: response)) }
        #expect(try await launch(session) == "signed in: unknown")
        // Without a refresh, the server has accepted nothing.
        #expect(try await launch(session, refreshing: false) == "undetermined: unacceptableStatus")
    }

    @Test func `the refresh can be left out, and is where there is no refresh token or no session`() async throws {
        for _ in 0..<2 { network.on(.me, return: ada) }
        _ = try await service(session).autoLogin(refreshing: false)
        #expect(session.calls == [.restore])
        #expect(try await launch(StubSession(tokens: .fixture(isRotated: false))) == "signed in: Ada")
        #expect(try await launch(guest) == "signed out: \(SignOutReason.never)")
        #expect(network.calls.count == 2 && unauthenticated.calls.isEmpty && guest.calls == [.restore])
    }

    @Test func `a session that the refresh ends leads to the login screen, and no request is sent`() async throws {
        session.on(.refresh) { $0.state = .signedOut(.expired()) }
        #expect(try await launch(session) == "signed out: expired")
        #expect(network.calls.isEmpty)
    }

    @Test func `a session that ends during the request leads to the login screen`() async throws {
        network.on(.me) {
            session.state = .signedOut(.expired())
            throw NetworkError(.sessionEnded)
        }
        #expect(try await launch(session) == "signed out: expired")
    }

    @Test func `an unreachable server does not lead to the login screen`() async throws {
        network.on(.me, throw: NetworkError(.connectionFailed))
        #expect(try await launch(session) == "undetermined: connectionFailed")
        #expect(!session.calls.contains(.signOut))
    }

    @Test(arguments: [
        (StubSession.Operation.refresh, AuthenticationError.Code.refreshUnavailable), (.restore, .storeUnavailable),
    ])
    func `a refresh that is not possible now, or an unavailable store, does not lead to the login screen`(
        operation: StubSession.Operation, code: AuthenticationError.Code
    ) async throws {
        session.fail(operation, with: AuthenticationError(code))
        #expect(try await launch(session) == "undetermined: \(code)")
        #expect(network.calls.isEmpty)
    }

    @Test func `a cancelled launch is no outcome`() async throws {
        let session = StubSession(.unknown)
        session.fail(.restore, with: CancellationError())
        await #expect(throws: CancellationError.self) { try await service(session).autoLogin() }
    }

    @Test func `an upgrade is sent in the guest's session, and its error quotes no token`() async throws {
        let upgrade = Endpoint.upgradeGuest(.kakao, token: "fixture-provider-token")
        #expect(upgrade.settings.requiresAuthentication && upgrade.isIdempotent)
        network.on(upgrade, throw: NetworkError(.unacceptableStatus, reason: "no such token: fixture-provider-token"))
        let error = await #expect(throws: NetworkError.self) {
            try await service(session).upgradeGuest(.kakao, token: "fixture-provider-token")
        }
        #expect(error.map { !"\($0)".contains("fixture-provider-token") } == true)
        #expect(session.signIns.isEmpty)
        #expect(!session.calls.contains(.signOut))
    }
}
