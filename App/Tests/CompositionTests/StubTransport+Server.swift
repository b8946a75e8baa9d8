import Composition
import Foundation
import NetworkCaching
import NetworkCore
import NetworkTesting
import TokenRefresh

extension AppGraph {
    /// Creates a graph whose files no limit of its own ends, however busy the machine is.
    init(_ configuration: AppConfiguration, over transport: StubTransport, cache: ResponseCache? = nil) {
        var policy = TokenRefreshPolicy()
        (policy.deadline, policy.storeDeadline) = (.seconds(600), .seconds(600))
        self.init(configuration, transport: transport, cache: cache, policy: policy)
    }
}

extension StubTransport {
    static let expired = "fixture-expired"

    /// A transport with the responses of a server that has one user and one expired token.
    static func server() -> StubTransport {
        let response = StubResponse { request in
            switch (request.url?.lastPathComponent, request.headers["Authorization"]) {
            case ("me", "Bearer \(expired)"): json(#"{"success":false,"code":"TOKEN_EXPIRED"}"#, status: 401)
            case ("me", _): json(#"{"success":true,"data":{"id":1,"name":"Ada"}}"#)
            case ("articles", _):
                json(
                    #"{"success":true,"data":{"items":[{"id":1,"title":"Title","content":"Text"}]}}"#,
                    ["ETag": "\"1\"", "Cache-Control": "private, max-age=0"])
            case ("refresh", _): json(#"{"success":true,"data":{"accessToken":"fixture-next"}}"#)
            case ("token", _): json(#"{"access_token":"fixture-next","token_type":"Bearer"}"#)
            default: json("", status: 404)
            }
        }
        return StubTransport(Stub(.any, response).repeated())
    }

    private static func json(
        _ body: String, status: Int = 200, _ headers: HTTPHeaders = [:]
    ) -> HTTPTransportResponse {
        HTTPTransportResponse(head: HTTPResponseHead(status: status, headers: headers), body: HTTPBody(Data(body.utf8)))
    }

    /// Method, path and credentials of every request.
    var lines: [String] { requests.map { "\($0) \($0.headers["Authorization"] ?? "-")" } }
}
