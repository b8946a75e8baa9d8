import DataAPI
import Foundation
import NetworkCore
import NetworkTesting

extension NetworkClient {
    /// A client over a stub. It does not wait between attempts, because it makes one.
    init(_ transport: any HTTPTransport) {
        self.init(baseURL: URL(filePath: "/").api, transport: transport, interceptors: [RetryPolicy.standard])
    }
}

extension URL {
    var api: URL {
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("https", "api.example.com", "/api/v1")
        return parts.url ?? self
    }

    static var api: URL { URL(filePath: "/").api }

    static var tokenEndpoint: URL { api.appending(path: "oauth2/token") }

    static var revocationEndpoint: URL { api.appending(path: "oauth2/revoke") }
}

extension Article {
    static func fixture(_ id: Article.ID, title: String = "Hello") -> Article {
        Article(
            id: id, title: title, body: "World", author: Author(id: 1, name: "Ada"),
            createdAt: Date(timeIntervalSince1970: 1_000_000_000))
    }
}

/// What an answer holds, as text: for bodies that are easier read than built.
extension StubResponse {
    static func text(_ body: String, status: Int = 200, type: String = "application/json") -> StubResponse {
        .status(
            status,
            headers: ["Content-Type": type, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            body: Data(body.utf8)
        )
    }
}

extension StubResponse {
    /// A body with or without a media type.
    static func body(_ body: String, status: Int, type: String?) -> StubResponse {
        var headers: HTTPHeaders = [:]
        headers["Content-Type"] = type
        return .status(status, headers: headers, body: Data(body.utf8))
    }

    /// A head, and a body that breaks off.
    static func cutOff(status: Int) -> StubResponse {
        StubResponse { request in
            let body = HTTPBody { throw HTTPTransportError(.connectionFailed, reason: "the body was cut off") }
            return HTTPTransportResponse(head: HTTPResponseHead(status: status, url: request.url), body: body)
        }
    }
}

/// The instant that answers of ``StubResponse/text(_:status:type:)`` are dated with.
let answerDate = Date(timeIntervalSince1970: 784_111_777)

extension SentRequest {
    var json: [String: String] {
        body.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) } ?? [:]
    }

    var text: String { body.map { String(decoding: $0, as: UTF8.self) } ?? "" }
}
