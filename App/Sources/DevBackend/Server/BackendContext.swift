import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// What Hummingbird's router carries along with a request.
struct BackendContext: RequestContext {
    struct Source: RequestContextSource {
        let logger: Logger
        let exchange: Exchange
    }

    var coreContext: CoreRequestContextStorage
    let exchange: Exchange

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        exchange = source.exchange
    }
}

/// One request and the answer to it: who they are and when they began.
struct Exchange: Sendable {
    /// The place in the journal.
    let sequence: Int
    let requestID: String
    let method: String
    let path: String
    /// The scheme and authority the request was sent to.
    let origin: String
    let arrival: ContinuousClock.Instant
    /// The memory its body takes.
    let body: BodyReservation
    let now: @Sendable () -> Date

    /// Whether answers here follow RFC 6749 §5 and not the envelope.
    private var speaksOAuth2: Bool { path.hasPrefix(RouteTable.basePath + "/oauth2/") }

    /// An answer in the envelope.
    func answer(
        _ payload: some Encodable, status: HTTPResponse.Status = .ok, message: String = "OK",
        headers: HTTPFields = HTTPFields()
    ) throws -> Response {
        let envelope = Envelope(
            success: true, code: "OK", message: message, data: payload, errors: nil, meta: meta)
        return try .json(envelope, status: status, headers: headers)
    }

    /// A refusal, in the envelope or as an OAuth 2.0 error.
    func refusal(_ error: APIError) throws -> Response {
        if speaksOAuth2 { return try OAuth2Error(error).response() }
        let envelope = Envelope<NoPayload>(
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
