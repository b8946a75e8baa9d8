import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation

/// A ``RefreshBackend`` that is an HTTP server on a free loopback port, so that a handler is checked as it ships. It
/// closes connections as real servers do.
final class LoopbackRefreshBackend<Handler: TokenRefreshHandler>: KeyRecordingRefreshBackend, RedirectingRefreshBackend
{
    private struct State {
        var response = RefreshBackendResponse.tokens
        var receivedKeys: [String?] = []
        var tokens = RotatingTokenServer()
        var followers = 0
    }

    let handler: Handler

    private let server: LoopbackServer
    private let state: Locked<State>

    init(_ dialect: RefreshDialect, makeHandler: (URL) throws -> Handler) throws {
        let state = Locked(State())
        // Where redirects to another origin lead.
        let other = try LoopbackServer { _ in Self.follower(state, dialect) }
        server = try LoopbackServer { request in
            if request.target == RefreshCall.placeOfRedirects { return Self.follower(state, dialect) }
            let key = request[dialect.idempotencyKeyField]
            let (response, tokens) = state.withLock { state in
                state.receivedKeys.append(key)
                return (state.response, state.tokens)
            }
            return RefreshCall(request: request, key: key, dialect: dialect, tokens: tokens, other: other.url)
                .action(response)
        }
        self.state = state
        handler = try makeHandler(server.url)
        state.withLock { $0.tokens = RotatingTokenServer(tolerating: handler.replayTolerance) }
    }

    /// What the place of a redirect responds with: tokens of another user.
    private static func follower(_ state: Locked<State>, _ dialect: RefreshDialect) -> LoopbackServer.Action {
        let tokens = state.withLock { state in
            state.followers += 1
            return state.tokens
        }
        return .encoding(dialect.tokens(tokens.signIn()), status: 200)
    }

    var followers: Int { state.withLock { $0.followers } }

    func signIn() -> TokenRefreshResult { state.withLock { $0.tokens }.signIn() }

    func respond(with response: RefreshBackendResponse) -> Bool {
        state.withLock { $0.response = response }
        return true
    }

    func session(of accessToken: String) -> String? { RotatingTokenServer.login(of: accessToken) }

    func receivedKeys() -> [String?] { state.withLock { $0.receivedKeys } }
}

/// A call to the server of a ``LoopbackRefreshBackend``.
private struct RefreshCall {
    static let placeOfRedirects = "/elsewhere"

    let request: LoopbackServer.Request
    let key: String?
    let dialect: RefreshDialect
    let tokens: RotatingTokenServer
    let other: URL

    func action(_ response: RefreshBackendResponse) -> LoopbackServer.Action {
        guard request.method == "POST" else { return .respond(405) }
        if let status = response.statusOfPage {
            return .respond(status, headers: ["Content-Type": "text/html"], body: Data("<html>\(quote)</html>".utf8))
        }
        if let redirect = response.redirect {
            let place = redirect.leavesOrigin ? other.appendingPathComponent(Self.placeOfRedirects).absoluteString : nil
            return .respond(redirect.status, headers: ["Location": place ?? Self.placeOfRedirects])
        }
        switch response {
        case .tokens: return refreshed().map(success) ?? rejection
        case .emptyAccessToken: return success(TokenRefreshResult(accessToken: ""))
        case .emptyAccessTokenAndNewRefreshToken:
            return success(TokenRefreshResult(accessToken: "", refreshToken: refreshed()?.refreshToken))
        case .rejected: return rejection
        case .garbage: return .json(quote)
        case .ambiguous: return .json(#"{"message":"Unauthorized"}"#, status: 401)
        case .forbidden: return .json(#"{"message":"Forbidden"}"#, status: 403)
        case .emptyForbidden: return .respond(403)
        case .unavailable: return .respond(503)
        case .tooManyRequests: return .respond(429, headers: ["Retry-After": "7"])
        case .nothing: return .hold
        case .lostResponse:
            _ = refreshed()
            return .close
        default: return .close
        }
    }

    /// What was sent, for a server that quotes it.
    private var quote: String {
        let parts = [String(decoding: request.body, as: UTF8.self), key, request["Authorization"]]
        return parts.compactMap(\.self).joined(separator: " ")
    }

    private var rejection: LoopbackServer.Action {
        .encoding(dialect.rejection("no such token: \(quote)"), status: dialect.rejectionStatus)
    }

    private func refreshed() -> TokenRefreshResult? {
        dialect.refreshToken(request.body).flatMap { try? tokens.refresh($0, key: key) }
    }

    private func success(_ tokens: TokenRefreshResult) -> LoopbackServer.Action {
        .encoding(dialect.tokens(tokens), status: 200)
    }
}

extension LoopbackServer.Action {
    fileprivate static func encoding(_ value: any Encodable, status: Int) -> Self {
        let body = (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) }
        return body.map { .json($0, status: status) } ?? .respond(500)
    }
}

/// A backend that counts the requests that followed its redirects.
protocol RedirectingRefreshBackend: RefreshBackend {
    var followers: Int { get }
}
