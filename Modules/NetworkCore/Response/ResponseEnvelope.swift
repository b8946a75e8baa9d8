public import struct Foundation.Date

/// The wrapping of every answer of the API (row N7).
///
/// Endpoints do not name it: the `.envelope` format takes the value out. It is here for servers written in Swift and
/// for tests, which must write one.
public struct ResponseEnvelope<Payload> {
    /// Whether the call worked.
    public var success: Bool

    /// What happened, for programs: `OK`, `NOT_FOUND`.
    public var code: String?

    /// What happened, for people.
    public var message: String?

    /// The value.
    public var data: Payload?

    /// What is wrong with the request, one by one.
    public var errors: [ErrorDetail]?

    /// About the answer itself.
    public var meta: ResponseMetadata?

    /// Creates an envelope.
    ///
    /// - Parameters:
    ///   - success: Whether the call worked.
    ///   - code: What happened, for programs.
    ///   - message: What happened, for people.
    ///   - data: The value.
    ///   - errors: What is wrong with the request.
    ///   - meta: About the answer itself.
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

/// What an envelope says about the answer itself.
public struct ResponseMetadata: Sendable, Hashable, Codable {
    /// When the server answered.
    public var timestamp: Date?

    /// The path that was asked for.
    public var path: String?

    /// The server's name for the request; quote it when reporting a fault.
    public var requestId: String?

    /// How long the server worked, in milliseconds.
    public var durationMs: Double?

    /// Creates metadata.
    ///
    /// - Parameters:
    ///   - timestamp: When the server answered.
    ///   - path: The path that was asked for.
    ///   - requestId: The server's name for the request.
    ///   - durationMs: How long the server worked, in milliseconds.
    public init(
        timestamp: Date? = nil,
        path: String? = nil,
        requestId: String? = nil,
        durationMs: Double? = nil
    ) {
        self.timestamp = timestamp
        self.path = path
        self.requestId = requestId
        self.durationMs = durationMs
    }
}
