public import Foundation
public import NetworkCore

/// What a stub answers.
public struct StubResponse: Sendable {
    let respond: @Sendable (SentRequest) async throws -> HTTPTransportResponse

    /// An answer worked out from the request: one that waits at a gate, or echoes.
    ///
    /// - Parameter respond: Answers, or throws as a transport does.
    public init(_ respond: @escaping @Sendable (SentRequest) async throws -> HTTPTransportResponse) {
        self.respond = respond
    }

    /// A status and bytes.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: The header fields.
    ///   - body: The body.
    /// - Returns: The answer.
    public static func status(_ status: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> StubResponse {
        StubResponse { request in
            let head = HTTPResponseHead(status: status, headers: headers, url: request.url)
            return HTTPTransportResponse(head: head, body: HTTPBody(body))
        }
    }

    /// A value as JSON.
    ///
    /// - Parameters:
    ///   - value: The value, encoded with the standard coding when it is asked for.
    ///   - status: The status code.
    ///   - headers: The header fields.
    /// - Returns: The answer.
    public static func json(
        _ value: some Encodable & Sendable,
        status: Int = 200,
        headers: HTTPHeaders = [:]
    ) -> StubResponse {
        StubResponse { request in
            var headers = headers
            headers["Content-Type"] = "application/json"
            let head = HTTPResponseHead(status: status, headers: headers, url: request.url)
            let body = try JSONCoding.standard.makeEncoder().encode(value)
            return HTTPTransportResponse(head: head, body: HTTPBody(body))
        }
    }

    /// A value in the envelope of the API.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - status: The status code.
    /// - Returns: The answer.
    public static func envelope(_ data: some Encodable & Sendable, status: Int = 200) -> StubResponse {
        json(ResponseEnvelope(code: "OK", data: data), status: status)
    }

    /// An error in the envelope of the API.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - code: What happened, for programs.
    ///   - message: What happened, for people.
    ///   - requestId: The server's name for the request.
    ///   - headers: The header fields.
    /// - Returns: The answer.
    public static func error(
        _ status: Int,
        code: String,
        message: String? = nil,
        requestId: String? = nil,
        headers: HTTPHeaders = [:]
    ) -> StubResponse {
        let meta = requestId.map { ResponseMetadata(requestId: $0) }
        let envelope = ResponseEnvelope<Bool>(success: false, code: code, message: message, meta: meta)
        return json(envelope, status: status, headers: headers)
    }

    /// No answer.
    ///
    /// - Parameter code: Why.
    /// - Returns: The answer.
    public static func failure(_ code: NetworkError.Code) -> StubResponse {
        StubResponse { _ in throw HTTPTransportError(code, reason: "as the stub says") }
    }
}
