public import Foundation

/// A fault of one request.
public enum FaultAction: Sendable, Hashable {
    /// The request waits between zero and this long, at random, then continues.
    case jitter(upTo: Duration)
    /// The handler runs and commits at once; its response waits this long.
    ///
    /// On a refresh the token is rotated at once, and the client gets the new one late.
    case delayResponse(Duration)
    /// The handler does not run; the response has this status and code, in the envelope (an OAuth 2.0 error under
    /// `/oauth2`).
    case respond(status: Int, code: String? = nil)
    /// The handler does not run; the response is 401 `TOKEN_INVALID` for any token.
    case refuseToken
    /// The handler does not run; the response redirects to this URL with 301, 302, 303, 307 or 308.
    case redirect(to: URL, status: Int = 307)
    /// The handler does not run; the response is that of a gateway in front of the server.
    case gateway(GatewayResponse)
    /// The connection is closed before the handler runs.
    case closeBeforeHandler
    /// The handler runs and commits, then the connection is closed: the response is lost.
    case closeAfterHandler
    /// The handler runs and commits; the connection is closed after this many bytes of the response's body, or at its
    /// end.
    case cutResponse(afterBytes: Int)
}

/// `{"kind": "respond", "status": 503, "code": "BUSY"}`, as a program sends it to `/dev/faults`.
extension FaultAction: Decodable {
    private enum Key: String, CodingKey {
        case kind, milliseconds, status, code
    }

    /// Reads one of the faults that JSON can have.
    ///
    /// - Throws: `DecodingError` when the kind is none of these, or a number is missing or out of range.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        func number(_ key: Key, in range: ClosedRange<Int>) throws -> Int {
            let number = try fields.decode(Int.self, forKey: key)
            guard range.contains(number) else {
                let bounds = "\(range.lowerBound) to \(range.upperBound)"
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: fields, debugDescription: "Must be from \(bounds).")
            }
            return number
        }
        switch try fields.decode(String.self, forKey: .kind) {
        case "delayResponse": self = .delayResponse(.milliseconds(try number(.milliseconds, in: 0...600_000)))
        case "respond":
            self = .respond(
                status: try number(.status, in: 200...599),
                code: try fields.decodeIfPresent(String.self, forKey: .code))
        case "refuseToken": self = .refuseToken
        case "closeBeforeHandler": self = .closeBeforeHandler
        case "closeAfterHandler": self = .closeAfterHandler
        default: throw DecodingError.dataCorruptedError(forKey: .kind, in: fields, debugDescription: "Is unknown.")
        }
    }
}

/// The response of a gateway or proxy in front of the server, without envelope and request identifier.
public struct GatewayResponse: Sendable, Hashable {
    /// The status, 200 or more.
    public var status: Int
    /// The value of `Content-Type`; nil leaves the field out.
    public var contentType: String?
    /// The body; may be empty.
    public var body: String

    /// Creates a response.
    public init(status: Int, contentType: String? = nil, body: String = "") {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
