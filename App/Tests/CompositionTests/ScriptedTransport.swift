import Composition
import Foundation
import NIOConcurrencyHelpers
import NetworkCaching
import NetworkCore
import TokenRefresh

extension AppGraph {
    /// Creates a graph whose files no limit of its own ends, however busy the machine is.
    init(_ configuration: AppConfiguration, over transport: ScriptedTransport, cache: ResponseCache? = nil) {
        var policy = TokenRefreshPolicy()
        (policy.deadline, policy.storeDeadline) = (.seconds(600), .seconds(600))
        self.init(configuration, transport: transport, cache: cache, policy: policy)
    }
}

/// A transport with the responses of a server that has one user and one expired token. It records the requests.
final class ScriptedTransport: HTTPTransport {
    static let expired = "fixture-expired"

    private let sent = NIOLockedValueBox<[String]>([])

    /// Method, path and credentials of every request.
    var lines: [String] { sent.withLockedValue { $0 } }

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let (method, path) = (request.head.method.rawValue, request.head.url.path)
        let authorization = request.head.headers["Authorization"]
        sent.withLockedValue { $0.append("\(method) \(path) \(authorization ?? "-")") }
        switch (path.split(separator: "/").last, authorization) {
        case ("me", "Bearer \(Self.expired)"):
            return response(401, #"{"success":false,"code":"TOKEN_EXPIRED"}"#)
        case ("me", _):
            return response(200, #"{"success":true,"data":{"id":1,"name":"Ada"}}"#)
        case ("articles", _):
            let list = #"{"success":true,"data":{"items":[{"id":1,"title":"Title","content":"Text"}]}}"#
            return response(200, list, ["ETag": "\"1\"", "Cache-Control": "private, max-age=0"])
        case ("refresh", _):
            return response(200, #"{"success":true,"data":{"accessToken":"fixture-next"}}"#)
        case ("token", _):
            return response(200, #"{"access_token":"fixture-next","token_type":"Bearer"}"#)
        default:
            return response(404, "")
        }
    }

    private func response(_ status: Int, _ body: String, _ headers: HTTPHeaders = [:]) -> HTTPTransportResponse {
        HTTPTransportResponse(head: HTTPResponseHead(status: status, headers: headers), body: HTTPBody(Data(body.utf8)))
    }
}
