import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTestSupport
import NetworkURLSession
import Testing

/// Only the response of the endpoint itself to the `POST` counts (G15), over real sockets.
@Suite(.timeLimit(.minutes(10))) struct TokenCallRedirectTests {
    typealias Redirect = RedirectingServer.Redirect

    private static let tokens = """
        {"success":true,"data":{"accessToken":"fixture-mallory","refreshToken":"fixture-mallory-2",\
        "user":{"id":666,"name":"Mallory"},"id":666,"name":"Mallory"}}
        """

    private func client(_ server: RedirectingServer) -> NetworkClient {
        NetworkClient(baseURL: server.url, transport: URLSessionTransport(), interceptors: [RetryPolicy.standard])
    }

    @Test(arguments: Redirect.all)
    func `G15: a refresh follows no redirect, and is unavailable`(_ redirect: Redirect) async throws {
        let server = try RedirectingServer(redirect, to: Self.tokens)
        let error = await RESTTokenRefreshHandler(network: client(server), accessToken: .bearer)
            .refreshError(TokenRefreshRequest(refreshToken: "fixture-refresh", accessToken: "fixture-access"))
        #expect(error?.code == .unavailable && error?.status == redirect.status)
        #expect(error.map { "\($0)".contains("redirect") } == true, "\(String(describing: error))")
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    @Test(arguments: Redirect.all)
    func `G15: a sign-in follows no redirect, and says so`(_ redirect: Redirect) async throws {
        let server = try RedirectingServer(redirect, to: Self.tokens)
        let session = StubSession(.signedOut(.never))
        let network = client(server)
        let service = AuthService(unauthenticated: network, network: network, session: session)
        let calls: [@Sendable () async throws -> User?] = [
            { try await service.socialLogin(.apple, token: "fixture-provider") },
            { try await service.registerGuest(name: "Ada", photo: Data([1])) },
            { try await service.upgradeGuest(.apple, token: "fixture-provider") },
        ]
        for call in calls {
            let error = await networkError { try await call() }
            #expect(error?.code == .redirectRefused && error?.status == redirect.status)
        }
        #expect(session.signIns.isEmpty)
        #expect(server.followers == 0 && server.calls.count == 3)
    }

    @Test(arguments: Redirect.all)
    func `G15: a revocation follows no redirect, and has failed`(_ redirect: Redirect) async throws {
        let server = try RedirectingServer(redirect, to: Self.tokens)
        await #expect(throws: NetworkError.self) {
            try await RESTTokenRefreshHandler(network: client(server))
                .revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        }
        #expect(server.followers == 0 && server.calls.count == 1)
    }
}
