public import NetworkCore

public import struct Foundation.Date

/// The object that contains the value or error of a response.
///
/// Endpoints do not name it: the `.envelope` format reads the value from it. Servers written in Swift, and tests, write
/// it.
public struct ResponseEnvelope<Payload> {
    /// Whether the call succeeded.
    public var success: Bool

    /// The code of the result: `OK`, `NOT_FOUND`.
    public var code: String?

    /// What happened, in the server's words.
    public var message: String?

    /// The value.
    public var data: Payload?

    /// The errors in the request.
    public var errors: [ErrorDetail]?

    /// Metadata of the response.
    public var meta: ResponseMetadata?

    /// Creates an envelope.
    public init(
        success: Bool = true,
        code: String? = nil,
        message: String? = nil,
        data: Payload? = nil,
        errors: [ErrorDetail]? = nil,
        meta: ResponseMetadata? = nil
    ) {
        self.success = success
        self.code = code
        self.message = message
        self.data = data
        self.errors = errors
        self.meta = meta
    }
}

extension ResponseEnvelope: Sendable where Payload: Sendable {}
extension ResponseEnvelope: Encodable where Payload: Encodable {}
extension ResponseEnvelope: Decodable where Payload: Decodable {}

/// Metadata of a response in an envelope.
public struct ResponseMetadata: Sendable, Hashable, Codable {
    /// When the server responded.
    public var timestamp: Date?

    /// The path of the request.
    public var path: String?

    /// The server's identifier of the request, for reports of a fault.
    public var requestId: String?

    /// How long the server needed, in milliseconds.
    public var durationMs: Double?

    /// Creates metadata.
    public init(timestamp: Date? = nil, path: String? = nil, requestId: String? = nil, durationMs: Double? = nil) {
        self.timestamp = timestamp
        self.path = path
        self.requestId = requestId
        self.durationMs = durationMs
    }
}
