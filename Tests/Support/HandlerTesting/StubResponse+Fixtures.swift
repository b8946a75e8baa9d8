package import AuthInterface
package import Foundation
package import NetworkCore
package import NetworkTesting

extension StubResponse {
    /// The `Date` of the responses of ``text(_:status:)``.
    package static let date = Date(timeIntervalSince1970: 784_111_777)

    /// A response with a date and a body of JSON.
    package static func text(_ body: String, status: Int = 200) -> StubResponse {
        .status(
            status, headers: ["Content-Type": "application/json", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            body: Data(body.utf8))
    }

    /// A response with a body, with or without a media type.
    package static func body(_ body: String, status: Int, type: String?) -> StubResponse {
        var headers: HTTPHeaders = [:]
        headers["Content-Type"] = type
        return .status(status, headers: headers, body: Data(body.utf8))
    }

    /// A redirect within the origin. A transport without a stub for its place fails where it is followed.
    package static let redirect = status(307, headers: ["Location": "/elsewhere"])

    /// A head, and an incomplete body.
    package static func cutOff(status: Int) -> StubResponse {
        StubResponse { request in
            let body = HTTPBody { throw HTTPTransportError(.connectionFailed, reason: "the body was cut off") }
            return HTTPTransportResponse(head: HTTPResponseHead(status: status, url: request.url), body: body)
        }
    }
}

extension TokenRefreshRequest {
    package static let fixture = TokenRefreshRequest(refreshToken: "fixture-refresh")
}

extension SentRequest {
    /// The members of a JSON object of texts; empty for any other body.
    package var json: [String: String] {
        body.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) } ?? [:]
    }

    package var text: String { body.map { String(decoding: $0, as: UTF8.self) } ?? "" }
}

extension NetworkClient {
    /// A client of the API under ``Foundation/URL/api``, with the standard retry policy.
    package init(_ transport: any HTTPTransport, _ format: any ResponseFormat = .json) {
        self.init(baseURL: .api, transport: transport, format: format, interceptors: [RetryPolicy.standard])
    }
}

extension URL {
    package static var api: URL {
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("https", "api.example.com", "/api/v1")
        return parts.url ?? URL(filePath: "/")
    }

    package static var tokenEndpoint: URL { api.appending(path: "oauth2/token") }

    package static var revocationEndpoint: URL { api.appending(path: "oauth2/revoke") }
}

/// The statuses, media types and failures that the verdict of every refresh handler is tested with.
package enum RefusalCases {
    package static let statuses = [
        200, 302, 400, 401, 402, 403, 404, 405, 407, 408, 409, 410, 413, 419, 422, 425, 429, 451, 498, 500, 501, 502,
        503, 504, 511, 520,
    ]

    /// `nil` sends no media type.
    package static let mediaTypes = [
        nil, "application/json", "application/problem+json", "text/plain", "text/html; charset=x",
    ]

    /// The failures after which no whole response has arrived.
    package static let withoutResponse: [StubResponse] = [
        .failure(.connectionFailed), .failure(.timedOut), .failure(.tlsFailed), .failure(.transportFailed),
        .cutOff(status: 200),
    ]
}
