public import Foundation
public import NetworkCore
public import Testing

/// The response of a stub.
public struct StubResponse: Sendable {
    let respond: @Sendable (SentRequest) async throws -> HTTPTransportResponse

    /// Where the response was described.
    let sourceLocation: SourceLocation

    /// A response made from the request: one that waits at a gate, or echoes.
    ///
    /// - Parameters:
    ///   - sourceLocation: Where issues about the stub are recorded.
    ///   - respond: Returns the response, or throws as a transport does.
    public init(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ respond: @escaping @Sendable (SentRequest) async throws -> HTTPTransportResponse
    ) {
        self.sourceLocation = sourceLocation
        self.respond = respond
    }

    /// A status and bytes.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - body: The body.
    ///   - sourceLocation: Where issues about the stub are recorded.
    /// - Returns: The response.
    public static func status(
        _ status: Int,
        headers: HTTPHeaders = [:],
        body: Data = Data(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StubResponse {
        StubResponse(sourceLocation: sourceLocation) { request in
            let head = HTTPResponseHead(status: status, headers: headers, url: request.url)
            return HTTPTransportResponse(head: head, body: HTTPBody(body))
        }
    }

    /// A value as JSON.
    ///
    /// - Parameters:
    ///   - value: The value. The standard coding encodes it for each request.
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - sourceLocation: Where issues about the stub are recorded.
    /// - Returns: The response.
    public static func json(
        _ value: some Encodable & Sendable,
        status: Int = 200,
        headers: HTTPHeaders = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StubResponse {
        StubResponse(sourceLocation: sourceLocation) { request in
            var headers = headers
            headers["Content-Type"] = "application/json"
            let head = HTTPResponseHead(status: status, headers: headers, url: request.url)
            let body = try JSONCoding.standard.makeEncoder().encode(value)
            return HTTPTransportResponse(head: head, body: HTTPBody(body))
        }
    }

    /// A value in an envelope.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - status: The status.
    ///   - sourceLocation: Where issues about the stub are recorded.
    /// - Returns: The response.
    public static func envelope(
        _ data: some Encodable & Sendable,
        status: Int = 200,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StubResponse {
        json(ResponseEnvelope(code: "OK", data: data), status: status, sourceLocation: sourceLocation)
    }

    /// An error in an envelope.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - code: The code of the error.
    ///   - message: What happened, in the server's words.
    ///   - requestId: The server's identifier of the request.
    ///   - headers: The header fields.
    ///   - sourceLocation: Where issues about the stub are recorded.
    /// - Returns: The response.
    public static func error(
        _ status: Int,
        code: String,
        message: String? = nil,
        requestId: String? = nil,
        headers: HTTPHeaders = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StubResponse {
        let meta = requestId.map { ResponseMetadata(requestId: $0) }
        let envelope = ResponseEnvelope<Bool>(success: false, code: code, message: message, meta: meta)
        return json(envelope, status: status, headers: headers, sourceLocation: sourceLocation)
    }

    /// A failure of the transport, without a response.
    ///
    /// - Parameters:
    ///   - code: The code of the error.
    ///   - sourceLocation: Where issues about the stub are recorded.
    /// - Returns: The response.
    public static func failure(
        _ code: NetworkError.Code,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StubResponse {
        StubResponse(sourceLocation: sourceLocation) { _ in throw HTTPTransportError(code, reason: "a stub failed") }
    }
}
