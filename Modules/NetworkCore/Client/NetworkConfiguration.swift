public import Foundation

/// The base URL of a client, its limits, and how it encodes and decodes.
public struct NetworkConfiguration: Sendable {
    /// The default idle timeout: 30 seconds.
    public static let defaultTimeout: Duration = .seconds(30)

    /// The default of ``maximumResponseSize``: 16 MiB.
    public static let defaultMaximumResponseSize = 16 * 1_024 * 1_024

    /// The default of ``maximumRedirects``.
    public static let defaultMaximumRedirects = 10

    /// The default of ``maximumAttempts``.
    public static let defaultMaximumAttempts = 5

    /// The URL that paths of endpoints are appended to: `https://api.example.com/api/v1`. It must have no query, fragment
    /// or user information.
    public var baseURL: URL

    /// The idle timeout: how long nothing may be sent or received.
    public var timeout: Duration

    /// The statuses that count as success.
    public var acceptedStatuses: Range<Int>

    /// How responses contain their value or error.
    public var format: any ResponseFormat

    /// The JSON encoders and decoders.
    public var coding: JSONCoding

    /// Header fields of every request. The fields of an endpoint replace those of the same name.
    public var headers: HTTPHeaders

    /// The largest body of a response, in bytes. A larger one fails with code `responseTooLarge`.
    public var maximumResponseSize: Int

    /// The most redirects in one attempt.
    public var maximumRedirects: Int

    /// The most attempts of one call, even if interceptors would retry more often.
    public var maximumAttempts: Int

    /// The origins that may be reached over plain http, in addition to loopback (G16).
    public var cleartextExceptions: Set<Origin>

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that paths of endpoints are appended to.
    ///   - timeout: The idle timeout: how long nothing may be sent or received.
    ///   - acceptedStatuses: The statuses that count as success.
    ///   - format: How responses contain their value or error.
    ///   - coding: The JSON encoders and decoders.
    ///   - headers: Header fields of every request.
    ///   - maximumResponseSize: The largest body of a response, in bytes.
    ///   - maximumRedirects: The most redirects in one attempt.
    ///   - maximumAttempts: The most attempts of one call.
    ///   - cleartextExceptions: The origins that may be reached over plain http, in addition to loopback.
    public init(
        baseURL: URL,
        timeout: Duration = defaultTimeout,
        acceptedStatuses: Range<Int> = 200..<300,
        format: any ResponseFormat = .envelope,
        coding: JSONCoding = .standard,
        headers: HTTPHeaders = [:],
        maximumResponseSize: Int = defaultMaximumResponseSize,
        maximumRedirects: Int = defaultMaximumRedirects,
        maximumAttempts: Int = defaultMaximumAttempts,
        cleartextExceptions: Set<Origin> = []
    ) {
        self.baseURL = baseURL
        self.timeout = timeout
        self.acceptedStatuses = acceptedStatuses
        self.format = format
        self.coding = coding
        self.headers = headers
        self.maximumResponseSize = maximumResponseSize
        self.maximumRedirects = maximumRedirects
        self.maximumAttempts = maximumAttempts
        self.cleartextExceptions = cleartextExceptions
    }
}
