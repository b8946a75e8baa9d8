import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import NetworkURLSession
import Testing

@testable import OAuth2Flows

/// A server on loopback whose endpoints are named by their paths, and its clients.
protocol AuthorizationServer: Sendable { var url: URL { get } }

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

    var network: NetworkClient {
        NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: [RetryPolicy.standard])
    }

    /// A handler. It revokes tokens where it is said what that ends.
    func handler(
        _ client: OAuth2Client = .fixture, prover: DPoPProver? = nil, revocationAffectsSessionOnly: Bool? = nil
    ) -> OAuth2TokenRefreshHandler {
        var handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: description.tokenEndpoint,
            revocationEndpoint: revocationAffectsSessionOnly.flatMap { _ in description.revocationEndpoint },
            client: client, network: network, revocationAffectsSessionOnly: revocationAffectsSessionOnly ?? false)
        handler.prover = prover
        return handler
    }

    func deviceSignIn(as client: OAuth2Client = .fixture, scope: String? = nil) -> OAuth2DeviceSignIn {
        OAuth2DeviceSignIn(server: description, client: client, network: network, scope: scope, clock: JumpingClock())
    }

    #if canImport(CryptoKit) || Crypto
    func codeSignIn(
        as client: OAuth2Client = .fixture, scope: String? = nil, prover: DPoPProver? = nil,
        _ change: (inout OAuth2Server) -> Void = { _ in }
    ) -> OAuth2CodeSignIn {
        var server = description
        change(&server)
        var signIn = OAuth2CodeSignIn(server: server, client: client, network: network, scope: scope)
        signIn.prover = prover
        // However busy the machine is, no reference to a request expires meanwhile.
        signIn.clock = ManualTimeSource()
        return signIn
    }
    #endif
}

extension OAuth2Client { static let fixture = OAuth2Client.public(id: "fixture-client") }

extension TokenBundle {
    static let signedIn = TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh")
}

/// The error that a sign-in throws. Another error, or none, is an issue of the test.
func signInError<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, of call: () async throws -> Value
) async -> OAuth2SignInError? {
    await #expect(throws: OAuth2SignInError.self, sourceLocation: sourceLocation) { _ = try await call() }
}

/// The code of the error that a sign-in throws; `nil`: it succeeds.
func signInCode<Value>(of call: () async throws -> Value) async throws -> String? {
    do { _ = try await call() } catch let error as OAuth2SignInError { return error.code.rawValue }
    return nil
}

extension OAuth2TokenRefreshHandler {
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

extension LoopbackServer.Request {
    var path: String { URLComponents(string: target)?.path ?? "" }

    var form: [URLQueryItem] {
        URLComponents(string: "?" + String(decoding: body, as: UTF8.self))?.queryItems ?? []
    }

    subscript(form name: String) -> [String] { form.filter { $0.name == name }.map { $0.value ?? "" } }
}

/// An authorization server on loopback. Its endpoints respond as a test scripts them, and else as usual.
final class LoopbackProvider: AuthorizationServer {
    struct State: Sendable {
        /// Its clock, which responses with tokens show.
        var date: Date?
        var keys: LoopbackServer.Action = .respond(404)
        var idToken: String?
        var hasRefreshToken = true
        private var references = 0

        /// The usual response to a call.
        fileprivate mutating func response(at path: String) -> LoopbackServer.Action {
            switch path {
            case "/par":
                references += 1
                return .json(#"{"request_uri":"urn:example:\#(references)","expires_in":60}"#, status: 201)
            case "/device": return .json(LoopbackProvider.code)
            case "/token": return .json(tokens, headers: date.map { ["Date": $0.headerField] } ?? [:])
            case "/revoke":
                return .respond(200, headers: ["Content-Type": "text/html"], body: Data("<html></html>".utf8))
            case "/keys": return keys
            default: return .respond(404)
            }
        }

        private var tokens: String {
            let refreshToken = hasRefreshToken ? #","refresh_token":"fixture-refresh""# : ""
            let id = idToken.map { #","id_token":"\#($0)""# } ?? ""
            return #"{"access_token":"fixture-access","token_type":"Bearer"\#(refreshToken)\#(id)}"#
        }
    }

    static let tokens = #"{"access_token":"fixture-access","token_type":"Bearer","refresh_token":"fixture-refresh"}"#
    private static let code =
        #"{"device_code":"fixture-device","user_code":"A","verification_uri":"https://id.example.com/a"}"#

    let state = Locked(State())
    private let server: LoopbackServer

    /// Starts the server. The script has the response to a call; `nil` is the usual one.
    init(_ script: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Action? = { _ in nil }) throws {
        server = try LoopbackServer { [state] call in
            script(call) ?? state.withLock { $0.response(at: call.path) }
        }
    }

    deinit { server.stop() }

    var url: URL { server.url }

    var calls: [LoopbackServer.Request] { server.requests }

    func calls(at path: String) -> [LoopbackServer.Request] { calls.filter { $0.path == path } }
}

#if canImport(CryptoKit) || Crypto
/// A user who decides at once: keeps the URLs of the page, and responds to the last one.
final class PromptUserAgent: OAuth2UserAgent {
    private let shown = Locked<[URL]>([])
    private let count: Int
    private let query: String
    private let onShow: @Sendable (URL) throws -> Void

    /// Creates a user agent. It shows a page a number of times, passes each URL on, and responds with a query in which
    /// `STATE` stands for the state of the page.
    init(
        showing count: Int = 1, answering query: String = "code=fixture-code&state=STATE",
        _ onShow: @escaping @Sendable (URL) throws -> Void = { _ in }
    ) {
        self.count = count
        self.query = query
        self.onShow = onShow
    }

    var pages: [URL] { shown.withLock { $0 } }

    func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
        let redirectURI = try #require(URL(string: "http://127.0.0.1:9/callback"))
        for _ in 0..<count {
            let url = try await page.url(redirectingTo: redirectURI)
            shown.withLock { $0.append(url) }
            try onShow(url)
        }
        let response = "\(redirectURI)?\(query.replacingOccurrences(of: "STATE", with: page.state))"
        return (try #require(URL(string: response)), redirectURI)
    }
}
#endif

extension URL {
    private var items: [URLQueryItem] { URLComponents(url: self, resolvingAgainstBaseURL: false)?.queryItems ?? [] }

    func values(of name: String) -> [String] { items.filter { $0.name == name }.compactMap(\.value) }

    var itemNames: Set<String> { Set(items.map(\.name)) }
}
