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

    @Test(arguments: Redirect.all)
    func `G15: no call with a token follows a redirect, and each says so`(_ redirect: Redirect) async throws {
        let server = try RedirectingServer(redirect, to: Self.tokens)
        let network = NetworkClient(
            baseURL: server.url, transport: URLSessionTransport(), interceptors: [RetryPolicy.standard])
        let handler = RESTTokenRefreshHandler(network: network, accessToken: .bearer)
        let error = await handler.refreshError(
            TokenRefreshRequest(refreshToken: "fixture-refresh", accessToken: "fixture-access"))
        #expect(error?.code == .unavailable && error?.status == redirect.status)
        #expect(error.map { "\($0)".contains("redirect") } == true, "\(String(describing: error))")
        await #expect(throws: NetworkError.self) {
            try await handler.revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        }
        let session = StubSession(.signedOut(.never))
        let service = AuthService(unauthenticated: network, network: network, session: session)
        let signIns: [@Sendable () async throws -> User?] = [
            { try await service.socialLogin(.apple, token: "fixture-provider") },
            { try await service.registerGuest(name: "Ada", photo: Data([1])) },
            { try await service.upgradeGuest(.apple, token: "fixture-provider") },
        ]
        for signIn in signIns {
            let error = await networkError { try await signIn() }
            #expect(error?.code == .redirectRefused && error?.status == redirect.status)
        }
        #expect(session.signIns.isEmpty && server.followers == 0 && server.calls.count == 5)
    }
}
