public import struct Foundation.Date

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
    ///
    /// - Parameters:
    ///   - timestamp: When the server responded.
    ///   - path: The path of the request.
    ///   - requestId: The server's identifier of the request.
    ///   - durationMs: How long the server needed, in milliseconds.
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
