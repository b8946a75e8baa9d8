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
    /// The segment of the path for which the route has a name.
    let parameter: String
    /// The scheme and authority of this server in the URLs that it sends.
    let origin: String
    let arrival = ContinuousClock.now
    let now: @Sendable () -> Date

    /// Whether errors here have the form of RFC 6749 §5.2 instead of the envelope.
    private var isOAuth2: Bool { path.hasPrefix(RouteTable.basePath + "/oauth2/") }

    /// A success, in the envelope.
    func success(
        _ payload: (some Encodable)?, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) throws -> Response {
        let envelope = Envelope(success: true, code: "OK", message: "OK", data: payload, errors: nil, meta: meta)
        return try .json(envelope, status: status, headers: headers)
    }

    /// An error: in the form of OAuth 2.0, or in the envelope.
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
        let bytes = try JSONEncoder.api.encode(body)
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension HTTPField.Name {
    static let xRequestID = literal("X-Request-Id")
    static let idempotencyKey = literal("Idempotency-Key")
    static let lastEventID = literal("Last-Event-ID")
    static let secFetchSite = literal("Sec-Fetch-Site")
    /// A second `Host`. The first one is no header field: it is the authority of the request.
    static let host = literal("Host")

    /// A name written in this code, so an invalid one is a programming error.
    private static func literal(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("Not a field name: \(text)") }
        return name
    }
}

extension HTTPFields {
    /// The value of a field that a dialect may name.
    subscript(named name: String?) -> String? { name.flatMap { HTTPField.Name($0) }.flatMap { self[$0] } }
}

extension Date {
    /// The date as the value of a `Date` field (RFC 9110 §5.6.7, IMF-fixdate).
    var httpDate: String { Self.httpStyle.format(self) }

    private static let httpStyle = VerbatimFormatStyle(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
            \(second: .twoDigits) GMT
            """,
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}
