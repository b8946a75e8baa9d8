public import Foundation

/// What a client needs to know of its server and of its own limits (row N9).
public struct NetworkConfiguration: Sendable {
    /// The longest silence to bear, unless told otherwise.
    public static let defaultTimeout: Duration = .seconds(30)

    /// The largest body of an answer kept in memory, unless told otherwise: 16 MiB.
    public static let defaultMaximumResponseSize = 16 * 1_024 * 1_024

    /// The most redirects followed, unless told otherwise.
    public static let defaultMaximumRedirects = 10

    /// The most attempts for one call, whatever interceptors say, unless told otherwise.
    public static let defaultMaximumAttempts = 5

    /// Where endpoints are found: `https://api.example.com/api/v1`. It has no query, no fragment, no user information.
    public var baseURL: URL

    /// The longest silence to bear: the time in which nothing is sent and nothing received.
    public var timeout: Duration

    /// The status codes that count as success (row N6).
    public var acceptedStatuses: Range<Int>

    /// How answers are wrapped.
    public var format: any ResponseFormat

    /// Where encoders and decoders come from.
    public var coding: JSONCoding

    /// Header fields of every request; an endpoint's own win.
    public var headers: HTTPHeaders

    /// The largest body of an answer kept in memory, in bytes.
    public var maximumResponseSize: Int

    /// The most redirects followed in one attempt.
    public var maximumRedirects: Int

    /// The most attempts for one call, whatever interceptors say.
    public var maximumAttempts: Int

    /// The origins that may be spoken to over plain http. Loopback always may (G16).
    public var cleartextExceptions: Set<Origin>

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - baseURL: Where endpoints are found.
    ///   - timeout: The longest silence to bear.
    ///   - acceptedStatuses: The status codes that count as success.
    ///   - format: How answers are wrapped.
    ///   - coding: Where encoders and decoders come from.
    ///   - headers: Header fields of every request.
    ///   - maximumResponseSize: The largest body of an answer kept in memory, in bytes.
    ///   - maximumRedirects: The most redirects followed in one attempt.
    ///   - maximumAttempts: The most attempts for one call.
    ///   - cleartextExceptions: The origins that may be spoken to over plain http.
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
