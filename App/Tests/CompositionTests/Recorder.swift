import Foundation
import NetworkCore

/// A server behind a transport: it knows one user and one expired token, renews tokens, and keeps what it was sent.
final class Recorder: HTTPTransport, @unchecked Sendable {  // every access to `kept` holds `lock`
    static let expired = "fixture-expired"

    private let lock = NSLock()
    private var kept: [String] = []
    private var keptKeys: [String] = []
    private var responsesToLose: Int

    /// Creates a server.
    ///
    /// - Parameter count: How many responses to a refresh are lost on their way.
    init(losingRefreshResponses count: Int = 0) {
        responsesToLose = count
    }

    /// The idempotency keys of the refresh calls.
    var keys: [String] { lock.withLock { keptKeys } }

    /// Method, path and credentials of every request.
    var lines: [String] { lock.withLock { kept } }

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let (method, path) = (request.head.method.rawValue, request.head.url.path)
        let authorization = request.head.headers["Authorization"]
        lock.withLock { kept.append("\(method) \(path) \(authorization ?? "-")") }
        switch (path.split(separator: "/").last, authorization) {
        case ("me", "Bearer \(Self.expired)"):
            return response(401, #"{"success":false,"code":"TOKEN_EXPIRED"}"#)
        case ("me", _):
            return response(200, #"{"success":true,"data":{"id":1,"name":"Ada"}}"#)
        case ("refresh", _):
            let isLost = lock.withLock {
                keptKeys.append(request.head.headers["Idempotency-Key"] ?? "")
                responsesToLose -= 1
                return responsesToLose >= 0
            }
            if isLost { throw HTTPTransportError(.connectionFailed, reason: "cut off") }
            return response(200, #"{"success":true,"data":{"accessToken":"fixture-next"}}"#)
        case ("token", _):
            return response(200, #"{"access_token":"fixture-next","token_type":"Bearer"}"#)
        default:
            return response(404, "")
        }
    }

    private func response(_ status: Int, _ body: String) -> HTTPTransportResponse {
        HTTPTransportResponse(head: HTTPResponseHead(status: status), body: HTTPBody(Data(body.utf8)))
    }
}
