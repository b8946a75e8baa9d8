/// One request as the server received it. Holds no token, no body, no query and no value of a header field.
public struct JournalEntry: Sendable, Hashable, Codable {
    /// The position in the order of arrival, from 1.
    public let sequence: Int
    /// The method, in capitals.
    public let method: String
    /// The path as it was sent, without its query, cut after 1,024 characters.
    public let path: String
    /// The request's identifier, as in `meta.requestId`.
    public let requestID: String
    /// Milliseconds from the server's start to the request's arrival, on a monotonic clock.
    public let arrivedAt: Double
    /// The credential-bearing header fields that were present, by their lower-case names.
    public let credentialFields: [String]
    /// The status of the response; nil while the request is in progress, or when the connection was closed instead.
    public internal(set) var status: Int?
    /// Milliseconds from the server's start to the time the response was ready to be sent; nil while in progress.
    public internal(set) var completedAt: Double?
    /// The rotation number of the access or refresh token in the request; nil unless this server issued it.
    public internal(set) var tokenGeneration: Int?

    /// Whether any credential-bearing header field was present.
    public var carriedCredentials: Bool { !credentialFields.isEmpty }
}
