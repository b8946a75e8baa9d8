package import AuthInterface
package import AuthTesting
import ConcurrencyPrimitives
import Foundation
package import NetworkCore

/// An authorization server behind a transport, which answers in the way it is told to.
package final class TokenServer: HTTPTransport {
    /// How its responses look.
    package enum Dialect: Sendable { case rest, oauth2 }

    private let dialect: Dialect
    private let tokens: RotatingTokenServer
    private let way = Locked(RefreshBackendResponse.tokens)
    private let keys = Locked<[String?]>([])

    package init(_ dialect: Dialect, _ tokens: RotatingTokenServer = RotatingTokenServer()) {
        self.dialect = dialect
        self.tokens = tokens
    }

    package var receivedKeys: [String?] { keys.withLock { $0 } }

    package func answer(_ answer: RefreshBackendResponse) {
        way.withLock { $0 = answer }
    }

    package func signIn() -> TokenRefreshResult { tokens.signIn() }

    package func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let body = String(decoding: request.body.data ?? Data(), as: UTF8.self)
        let key = request.head.headers["Idempotency-Key"]
        keys.withLock { $0.append(key) }
        let way = way.withLock { $0 }
        if let status = Self.pages[way] {
            return response(status, "<html>\(body) \(key ?? "")</html>", headers: ["Content-Type": "text/html"])
        }
        switch way {
        case .tokens: return rotated(body, key)
        case .rejected: return refusal(quoting: "\(body) \(key ?? "")")
        case .ambiguous: return response(401, #"{"message":"Unauthorized"}"#)
        case .forbidden: return response(403, #"{"message":"Forbidden"}"#)
        case .emptyForbidden: return response(403, "")
        case .unavailable: return response(503, "")
        case .tooManyRequests: return response(429, "", headers: ["Retry-After": "7"])
        case .garbage: return response(200, "\(body) \(key ?? "")")
        case .emptyAccessToken: return success(TokenRefreshResult(accessToken: ""))
        case .emptyAccessTokenAndNewRefreshToken:
            return success(TokenRefreshResult(accessToken: "", refreshToken: rotate(body, key)?.refreshToken))
        case .nothing:
            try await Gate().passUnlessCancelled()
            return response(500, "")
        case .lostResponse:
            _ = rotate(body, key)
            throw HTTPTransportError(.connectionFailed, reason: "the connection was cut")
        default: throw HTTPTransportError(.connectionFailed, reason: "no server is there")
        }
    }

    private static let pages: [RefreshBackendResponse: Int] = [
        .page: 200, .unauthorizedPage: 401, .forbiddenPage: 403, .badGatewayPage: 502,
    ]

    /// Exchanges the refresh token that a body holds somewhere.
    private func rotate(_ body: String, _ key: String?) -> TokenRefreshResult? {
        guard let token = body.firstMatch(of: /refresh-[a-z]+[0-9]+-[0-9]+/) else { return nil }
        return try? tokens.refresh(String(token.output), key: key)
    }

    private func rotated(_ body: String, _ key: String?) -> HTTPTransportResponse {
        rotate(body, key).map(success) ?? refusal(quoting: body)
    }

    private func response(_ status: Int, _ body: String, headers: HTTPHeaders = [:]) -> HTTPTransportResponse {
        HTTPTransportResponse(
            head: HTTPResponseHead(status: status, headers: headers), body: HTTPBody(Data(body.utf8)))
    }

    private func success(_ tokens: TokenRefreshResult) -> HTTPTransportResponse {
        let refreshToken = tokens.refreshToken ?? ""
        return switch dialect {
        case .rest:
            response(
                200,
                #"{"success":true,"data":{"accessToken":"\#(tokens.accessToken)","refreshToken":"\#(refreshToken)"}}"#)
        case .oauth2:
            response(
                200,
                #"{"access_token":"\#(tokens.accessToken)","token_type":"Bearer","refresh_token":"\#(refreshToken)"}"#)
        }
    }

    /// A refusal that quotes what was sent, as careless servers do.
    private func refusal(quoting body: String) -> HTTPTransportResponse {
        let quoted = body.replacing("\"", with: "'")
        return switch dialect {
        case .rest:
            response(401, #"{"success":false,"code":"REFRESH_TOKEN_INVALID","message":"no such token: \#(quoted)"}"#)
        case .oauth2:
            response(400, #"{"error":"invalid_grant","error_description":"no such token: \#(quoted)"}"#)
        }
    }
}
