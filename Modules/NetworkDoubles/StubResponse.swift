public import Foundation
public import NetworkCore

/// The response of a stub.
public struct StubResponse: Sendable {
    let respond: @Sendable (SentRequest) async throws -> HTTPTransportResponse

    /// A response made from the request: one that waits at a gate, or echoes.
    public init(_ respond: @escaping @Sendable (SentRequest) async throws -> HTTPTransportResponse) {
        self.respond = respond
    }

    /// A status and bytes.
    public static func status(_ status: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> StubResponse {
        StubResponse { request in
            let head = HTTPResponseHead(status: status, headers: headers, url: request.url)
            return HTTPTransportResponse(head: head, body: HTTPBody(body))
        }
    }

    /// A value as JSON.
    public static func json(
        _ value: some Encodable & Sendable, status: Int = 200, headers: HTTPHeaders = [:]
    ) -> StubResponse {
        StubResponse { request in
            var headers = headers
            headers["Content-Type"] = "application/json"
            let head = HTTPResponseHead(status: status, headers: headers, url: request.url)
            let body = try JSONCoding.standard.makeEncoder().encode(value)
            return HTTPTransportResponse(head: head, body: HTTPBody(body))
        }
    }

    /// An error object, `{"success": false, "code": …}`.
    public static func error(
        _ status: Int, code: String, message: String? = nil, requestId: String? = nil, headers: HTTPHeaders = [:]
    ) -> StubResponse {
        json(ErrorBody(code: code, message: message, requestId: requestId), status: status, headers: headers)
    }

    private struct ErrorBody: Encodable {
        let success = false
        let code: String
        let message: String?
        let requestId: String?
    }

    /// A failure of the transport, without a response.
    public static func failure(_ code: NetworkError.Code) -> StubResponse {
        StubResponse { _ in throw HTTPTransportError(code, reason: "a stub failed") }
    }
}
