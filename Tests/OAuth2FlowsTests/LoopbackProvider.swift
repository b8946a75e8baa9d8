import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Testing

@testable import OAuth2Flows

/// An authorization server on loopback. Its endpoints respond as a test scripts them, and else as usual.
final class LoopbackProvider: AuthorizationServer {
    /// A call as it arrived.
    struct Call: Sendable {
        let method: String
        let path: String
        let authorization: String?
        let items: [(name: String, value: String)]

        /// The values of a parameter.
        subscript(name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

        var names: Set<String> { Set(items.map(\.name)) }

        init(_ request: LoopbackServer.Request) {
            let form = URLComponents(string: "?" + String(decoding: request.body, as: UTF8.self))
            method = request.method
            path = URLComponents(string: request.target)?.path ?? ""
            authorization = request["Authorization"]
            items = (form?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        }

        /// The usual response.
        fileprivate var response: LoopbackServer.Action {
            switch path {
            case "/par": .json(#"{"request_uri":"urn:example:1","expires_in":60}"#, status: 201)
            case "/device": .json(LoopbackProvider.code)
            case "/token": .json(LoopbackProvider.tokens)
            case "/revoke": .respond(200, headers: ["Content-Type": "text/html"], body: Data("<html></html>".utf8))
            default: .respond(404)
            }
        }
    }

    static let tokens =
        #"{"access_token":"fixture-access","token_type":"Bearer","refresh_token":"fixture-refresh"}"#
    private static let code =
        #"{"device_code":"fixture-device","user_code":"A","verification_uri":"https://id.example.com/a"}"#

    private let server: LoopbackServer
    private let received = Locked<[Call]>([])

    /// Starts the server.
    ///
    /// - Parameter script: The response to a call, by path; `nil` is the usual one.
    /// - Throws: `POSIXError` when no port is available.
    init(_ script: @escaping @Sendable (Call) -> LoopbackServer.Action? = { _ in nil }) throws {
        server = try LoopbackServer { [received] request in
            let call = Call(request)
            received.withLock { $0.append(call) }
            return script(call) ?? call.response
        }
    }

    deinit { server.stop() }

    var url: URL { server.url }

    /// The calls, in order.
    var calls: [Call] { received.withLock { $0 } }

    func calls(at path: String) -> [Call] { calls.filter { $0.path == path } }
}

#if canImport(CryptoKit) || Crypto
/// A user who decides at once: keeps the URLs of the page, and responds to the last one.
final class PromptUserAgent: OAuth2UserAgent {
    private let shown = Locked<[URL]>([])
    private let count: Int
    private let onShow: @Sendable (URL) throws -> Void

    /// Creates a user agent.
    ///
    /// - Parameters:
    ///   - count: How often the page is shown.
    ///   - onShow: Is called with the URL of each page.
    init(showing count: Int = 1, _ onShow: @escaping @Sendable (URL) throws -> Void = { _ in }) {
        (self.count, self.onShow) = (count, onShow)
    }

    /// The pages that were shown.
    var pages: [URL] { shown.withLock { $0 } }

    func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
        let redirectURI = try #require(URL(string: "http://127.0.0.1:9/callback"))
        for _ in 0..<count {
            let url = try await page.url(redirectingTo: redirectURI)
            shown.withLock { $0.append(url) }
            try onShow(url)
        }
        return (try #require(URL(string: "\(redirectURI)?code=fixture-code&state=\(page.state)")), redirectURI)
    }
}
#endif

extension URL {
    /// The values of the items of a query.
    func values(of name: String) -> [String] {
        (URLComponents(url: self, resolvingAgainstBaseURL: false)?.queryItems ?? []).filter { $0.name == name }
            .compactMap(\.value)
    }

    var itemNames: Set<String> {
        Set((URLComponents(url: self, resolvingAgainstBaseURL: false)?.queryItems ?? []).map(\.name))
    }
}
