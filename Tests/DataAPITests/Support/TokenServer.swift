import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import NetworkCore
import NetworkTesting

/// An authorisation server behind a transport, which answers in the way it is told to.
final class TokenServer: HTTPTransport {
    /// How its answers look.
    enum Dialect: Sendable { case rest, oauth2 }

    private let dialect: Dialect
    private let tokens = RotatingTokens()
    private let way = Locked(RefreshBackendAnswer.tokens)

    init(_ dialect: Dialect) {
        self.dialect = dialect
    }

    func answer(_ answer: RefreshBackendAnswer) {
        way.withLock { $0 = answer }
    }

    func signIn() -> TokenRefreshResult { tokens.issue() }

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let body: String = if case .data(let data) = request.body { String(decoding: data, as: UTF8.self) } else { "" }
        switch way.withLock({ $0 }) {
        case .tokens: return try response(200, success(tokens.rotate(tokenIn: body)))
        case .rejected: return try response(dialect == .rest ? 401 : 400, refusal(quoting: body))
        case .unavailable: return try response(503, "")
        case .tooManyRequests: return try response(429, "", headers: ["Retry-After": "7"])
        case .unreachable: throw HTTPTransportError(.connectionFailed, reason: "nobody is there")
        case .garbage: return try response(200, "<html>\(body)</html>")
        case .emptyAccessToken: return try response(200, success(TokenRefreshResult(accessToken: "")))
        case .nothing:
            try await Gate().passUnlessCancelled()
            return try response(500, "")
        }
    }

    private func response(_ status: Int, _ body: String, headers: HTTPHeaders = [:]) throws -> HTTPTransportResponse {
        HTTPTransportResponse(
            head: HTTPResponseHead(status: status, headers: headers), body: HTTPResponseBody(Data(body.utf8)))
    }

    private func success(_ tokens: TokenRefreshResult?) -> String {
        guard let tokens else { return "{}" }
        let refreshToken = tokens.refreshToken ?? ""
        return switch dialect {
        case .rest:
            #"{"success":true,"data":{"accessToken":"\#(tokens.accessToken)","refreshToken":"\#(refreshToken)"}}"#
        case .oauth2:
            #"{"access_token":"\#(tokens.accessToken)","token_type":"Bearer","refresh_token":"\#(refreshToken)"}"#
        }
    }

    /// A no that quotes what was sent, as careless servers do.
    private func refusal(quoting body: String) -> String {
        let quoted = body.replacing("\"", with: "'")
        return switch dialect {
        case .rest: #"{"success":false,"code":"REFRESH_TOKEN_INVALID","message":"no such token: \#(quoted)"}"#
        case .oauth2: #"{"error":"invalid_grant","error_description":"no such token: \#(quoted)"}"#
        }
    }
}

/// Tokens that say whose they are: `fixture-access-3-1` is the second one of the third session.
final class RotatingTokens: Sendable {
    private let next = Locked(0)

    func issue() -> TokenRefreshResult {
        let session = next.withLock { next in
            next += 1
            return next
        }
        return Self.tokens(session, 0)
    }

    /// The successor of the refresh token that a body holds somewhere.
    func rotate(tokenIn body: String) -> TokenRefreshResult? {
        guard let match = body.firstMatch(of: /fixture-refresh-([0-9]+)-([0-9]+)/) else { return nil }
        guard let session = Int(match.1), let generation = Int(match.2) else { return nil }
        return Self.tokens(session, generation + 1)
    }

    /// Whose an access token is.
    static func session(of accessToken: String) -> String? {
        accessToken.split(separator: "-").dropLast().last.map(String.init)
    }

    private static func tokens(_ session: Int, _ generation: Int) -> TokenRefreshResult {
        TokenRefreshResult(
            accessToken: "fixture-access-\(session)-\(generation)",
            refreshToken: "fixture-refresh-\(session)-\(generation)"
        )
    }
}
