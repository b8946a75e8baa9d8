import AuthInterface
import Foundation
import NetworkCore
import NetworkURLSession
import OAuth2Flows
import ProgramTesting
import Testing

/// The OAuth 2 provider of `App/Tests/Endurance/provider`, as a process of its own.
final class RunningProvider: Sendable {
    /// The program that starts it: `make test-provider` sets the variable, and without it the tests are skipped.
    static let program = ProcessInfo.processInfo.environment["PROVIDER"]

    enum Authentication: String, CaseIterable, Sendable { case none, body, basic, key }

    let network: NetworkClient
    private let process: ProviderProcess

    var issuer: URL { process.issuer }

    /// Starts a provider whose access tokens live for a minute, without a grace window.
    init() async throws {
        process = try await ProviderProcess(Self.program ?? "")
        network = NetworkClient(baseURL: process.issuer, transport: URLSessionTransport(), interceptors: [])
    }

    deinit { process.stop() }

    func oauthClient(_ authentication: Authentication) throws -> OAuth2Client {
        switch authentication {
        case .none: .public(id: "\(process.client)-public")
        case .body: .body(id: process.client, secret: process.secret)
        case .basic: .basic(id: process.client, secret: process.secret)
        case .key:
            .privateKey(
                id: "\(process.client)-key", key: try OAuth2ClientKey(pem: process.key), issuer: issuer.absoluteString)
        }
    }

    func server() async throws -> OAuth2Server {
        try await OAuth2Server.discover(issuer: issuer, network: network)
    }

    /// A client with a key is registered as one that pushes its requests.
    func signIn(_ authentication: Authentication, scope: String = "resource") async throws -> OAuth2CodeSignIn {
        var signIn = OAuth2CodeSignIn(
            server: try await server(), client: try oauthClient(authentication), network: network, scope: scope)
        signIn.pushesRequest = authentication == .key
        return signIn
    }

    /// The provider signs with another key from now on.
    func changeKey(to algorithm: String) async throws {
        let call = Endpoint<Void>.post("keys", body: .form(["algorithm": algorithm])).withoutAuthentication()
        try await network.send(call)
    }

    func handler(_ authentication: Authentication) async throws -> OAuth2TokenRefreshHandler {
        let server = try await server()
        return OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, revocationEndpoint: server.revocationEndpoint,
            client: try oauthClient(authentication), network: network)
    }

    /// The user enters a device's code.
    func enter(_ code: OAuth2DeviceCode, decision: String) async throws {
        let form: QueryItems = ["user_code": code.userCode, "decision": decision]
        let call = Endpoint<Decision>.post("device", body: .form(form)).withoutAuthentication().format(.json)
        #expect(try await network.send(call).decision == decision)
    }

    func accepts(_ accessToken: String) async throws -> Bool {
        do {
            let call = Endpoint<Resource>.get("resource").withoutAuthentication().format(.json)
            return try await network.send(call.header("Authorization", "Bearer \(accessToken)")).user == "user"
        } catch let error as NetworkError where error.status == 401 {
            return false
        }
    }

    private struct Decision: Decodable, Sendable {
        let decision: String
    }

    private struct Resource: Decodable, Sendable {
        let user: String
    }
}

/// A user in front of a browser: opens the sign-in page, decides at once, and follows the redirect to loopback.
struct ScriptedBrowser: Sendable {
    /// Changes the URL of the page, as an attacker or a wrong client would.
    var changingPage: @Sendable (inout URLComponents) -> Void = { _ in }

    var userAgent: LoopbackUserAgent {
        LoopbackUserAgent(timeout: .seconds(600)) { page in try await open(page) }
    }

    func open(_ page: URL) async throws {
        var components = try #require(URLComponents(url: page, resolvingAgainstBaseURL: false))
        changingPage(&components)
        let head = try await Self.get(#require(components.url))
        guard let redirect = head.headers["Location"].flatMap({ URL(string: $0) }) else {
            throw ProviderProcess.Failure("the provider did not redirect: \(head.status)")
        }
        // What is no response to the page gets no response: the listener waits for the right one.
        try await Self.get(redirect)
    }

    /// Not with Foundation's `data(from:)`: a task that is cancelled while that completes can block every session.
    @discardableResult
    static func get(_ url: URL) async throws -> HTTPResponseHead {
        let request = HTTPTransportRequest(head: HTTPRequestHead(method: .get, url: url))
        let response = try await transport.perform(request)
        _ = try await response.body.collect(upTo: 1 << 20)
        return response.head
    }

    /// It follows no redirect.
    private static let transport = URLSessionTransport()
}

extension URLComponents {
    mutating func set(_ name: String, _ value: String) {
        queryItems = (queryItems ?? []).filter { $0.name != name } + [URLQueryItem(name: name, value: value)]
    }
}

extension SessionState {
    var isSignedIn: Bool { if case .signedIn = self { true } else { false } }
}
