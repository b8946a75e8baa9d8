import AuthInterface
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import NetworkURLSession
import Testing

@testable import OAuth2Flows

/// A server on loopback whose endpoints are named by their paths, and its clients.
protocol AuthorizationServer: Sendable {
    var url: URL { get }
}

extension AuthorizationServer {
    var issuer: String { url.absoluteString }

    /// The server with all its endpoints.
    var description: OAuth2Server {
        var server = OAuth2Server(
            issuer: issuer, tokenEndpoint: url.appendingPathComponent("token"),
            authorizationEndpoint: url.appendingPathComponent("authorize"),
            deviceAuthorizationEndpoint: url.appendingPathComponent("device"),
            revocationEndpoint: url.appendingPathComponent("revoke"))
        server.pushedAuthorizationRequestEndpoint = url.appendingPathComponent("par")
        server.jwksURI = url.appendingPathComponent("keys")
        return server
    }

    var network: NetworkClient { network(over: URLSessionTransport()) }

    func network(over transport: any HTTPTransport) -> NetworkClient {
        NetworkClient(baseURL: url, transport: transport, interceptors: [RetryPolicy.standard])
    }

    /// A handler. It revokes tokens where it is said what that ends.
    func handler(
        _ client: OAuth2Client = .fixture, over transport: any HTTPTransport = URLSessionTransport(),
        revocationAffectsSessionOnly: Bool? = nil
    ) -> OAuth2TokenRefreshHandler {
        OAuth2TokenRefreshHandler(
            tokenEndpoint: description.tokenEndpoint,
            revocationEndpoint: revocationAffectsSessionOnly.flatMap { _ in description.revocationEndpoint },
            client: client, network: network(over: transport),
            revocationAffectsSessionOnly: revocationAffectsSessionOnly ?? false)
    }

    func deviceSignIn(as client: OAuth2Client = .fixture, scope: String? = nil) -> OAuth2DeviceSignIn {
        OAuth2DeviceSignIn(
            server: description, client: client, network: network, scope: scope, clock: JumpingClock())
    }

    #if canImport(CryptoKit) || Crypto
    func codeSignIn(
        as client: OAuth2Client = .fixture, scope: String? = nil, _ change: (inout OAuth2Server) -> Void = { _ in }
    ) -> OAuth2CodeSignIn {
        var server = description
        change(&server)
        return OAuth2CodeSignIn(server: server, client: client, network: network, scope: scope)
    }
    #endif
}

extension RedirectingServer: AuthorizationServer {}

extension OAuth2Client {
    static let fixture = OAuth2Client.public(id: "fixture-client")
}

extension TokenBundle {
    static let signedIn = TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh")
}

/// The error that a sign-in throws. Another error, or none, is an issue of the test.
func signInError<Value>(
    sourceLocation: SourceLocation = #_sourceLocation,
    of call: () async throws -> Value
) async -> OAuth2SignInError? {
    await #expect(throws: OAuth2SignInError.self, sourceLocation: sourceLocation) { _ = try await call() }
}

extension OAuth2TokenRefreshHandler {
    /// A handler whose server is a stub.
    init(_ transport: StubTransport, as client: OAuth2Client = .fixture) {
        self.init(
            tokenEndpoint: .tokenEndpoint, revocationEndpoint: .revocationEndpoint, client: client,
            network: NetworkClient(transport))
    }
}

extension Date {
    /// The date as a header field has it (RFC 9110 §5.6.7).
    var headerField: String {
        let format = DateFormatter()
        (format.locale, format.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "GMT"))
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: self)
    }
}
