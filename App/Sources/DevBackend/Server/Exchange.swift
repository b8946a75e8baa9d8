import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// One request, and how to respond to it.
struct Exchange: Sendable {
    /// The request's number in the journal.
    let sequence: Int
    let requestID: String
    let method: String
    let path: String
    /// The scheme and authority the request was sent to.
    let origin: String
    let arrival: ContinuousClock.Instant
    /// The memory that the request's body takes.
    let body: BodyMemory.Reservation
    let now: @Sendable () -> Date

    /// Whether errors here have the form of RFC 6749 §5.2 instead of the envelope.
    private var isOAuth2: Bool { path.hasPrefix(RouteTable.basePath + "/oauth2/") }

    /// A success in the envelope.
    func success(
        _ payload: (some Encodable)?, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) throws -> Response {
        let envelope = Envelope(success: true, code: "OK", message: "OK", data: payload, errors: nil, meta: meta)
        return try .json(envelope, status: status, headers: headers)
    }

    /// An error, in the envelope or in the form of OAuth 2.0.
    func failure(_ error: APIError) throws -> Response {
        if isOAuth2 { return try OAuth2Error(error).response() }
        let envelope = Envelope<Payload.Empty>(
            success: false, code: error.code, message: error.message, data: nil, errors: error.errors, meta: meta)
        return try .json(envelope, status: error.status, headers: error.headers)
    }

    private var meta: EnvelopeMeta {
        let elapsed = (ContinuousClock.now - arrival).wholeMilliseconds
        return EnvelopeMeta(timestamp: now(), path: path, requestId: requestID, durationMs: elapsed)
    }
}

extension Response {
    static func json(
        _ body: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) throws -> Response {
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        let bytes = try JSONEncoder.api().encode(body)
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
