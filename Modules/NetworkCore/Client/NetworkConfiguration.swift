public import AuthInterface
public import Foundation

/// The base URL of a client, its limits, and how it encodes and decodes.
public struct NetworkConfiguration: Sendable {
    /// The default idle timeout: 30 seconds.
    public static let defaultTimeout: Duration = .seconds(30)

    /// The default of ``deadline``: 60 seconds.
    public static let defaultDeadline: Duration = .seconds(60)

    /// How long a process that was stopped, or whose device slept, runs before a time limit counts that has passed
    /// meanwhile: 5 seconds, as in the token engine. What has arrived in its sockets is read in this time (G8).
    public static let defaultWakeGrace: Duration = .seconds(5)

    /// The default of ``maximumResponseSize``: 16 MiB.
    public static let defaultMaximumResponseSize = 16 * 1_024 * 1_024

    /// The default of ``maximumRedirects``.
    public static let defaultMaximumRedirects = 10

    /// The default of ``maximumAttempts``.
    public static let defaultMaximumAttempts = 5

    /// The URL that paths of endpoints are appended to: `https://api.example.com/api/v1`. It must have no query,
    /// fragment or user information.
    public var baseURL: URL

    /// The idle timeout: how long nothing may be sent or received.
    public var timeout: Duration

    /// The longest time from the start of a call to the end of its response's body: the waits for a token and for a
    /// connection, pauses and all attempts included. For a body that is read as it arrives, to its head. It is never
    /// shorter than the idle timeout. `nil`: no limit.
    public var deadline: Duration?

    /// The statuses that count as success.
    public var acceptedStatuses: HTTPStatusSet

    /// How responses contain their value or error.
    public var format: any ResponseFormat

    /// The JSON encoders of bodies. The initializer gives the decoders to ``format``, unless it has its own.
    public var coding: JSONCoding

    /// Header fields of every request. The fields of an endpoint replace those of the same name.
    public var headers: HTTPHeaders

    /// The largest body of a response, in bytes. A larger one fails with code `responseTooLarge`.
    public var maximumResponseSize: Int

    /// The most redirects in one attempt.
    public var maximumRedirects: Int

    /// The most attempts of one call, even if interceptors would retry more often. An attempt with another token in
    /// place of one that the server has refused does not count; there are two of them at most.
    public var maximumAttempts: Int

    /// The origins that may be reached over plain http, in addition to loopback (G16).
    public var cleartextExceptions: Set<Origin>

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that paths of endpoints are appended to.
    ///   - timeout: The idle timeout: how long nothing may be sent or received.
    ///   - deadline: The longest time from the start of a call to the end of its response. `nil`: no limit.
    ///   - acceptedStatuses: The statuses that count as success.
    ///   - format: How responses contain their value or error. `nil`: ``EnvelopeFormat``.
    ///   - coding: The JSON encoders of bodies, and the decoders of a format that has none of its own.
    ///   - headers: Header fields of every request.
    ///   - maximumResponseSize: The largest body of a response, in bytes.
    ///   - maximumRedirects: The most redirects in one attempt.
    ///   - maximumAttempts: The most attempts of one call.
    ///   - cleartextExceptions: The origins that may be reached over plain http, in addition to loopback.
    public init(
        baseURL: URL,
        timeout: Duration = defaultTimeout,
        deadline: Duration? = defaultDeadline,
        acceptedStatuses: HTTPStatusSet = .success,
        format: (any ResponseFormat)? = nil,
        coding: JSONCoding = .standard,
        headers: HTTPHeaders = [:],
        maximumResponseSize: Int = defaultMaximumResponseSize,
        maximumRedirects: Int = defaultMaximumRedirects,
        maximumAttempts: Int = defaultMaximumAttempts,
        cleartextExceptions: Set<Origin> = []
    ) {
        self.baseURL = baseURL
        self.timeout = timeout
        self.deadline = deadline
        self.acceptedStatuses = acceptedStatuses
        let chosen = format ?? EnvelopeFormat()
        self.format = (chosen as? any CodedFormat)?.coded(by: coding) ?? chosen
        self.coding = coding
        self.headers = headers
        self.maximumResponseSize = maximumResponseSize
        self.maximumRedirects = maximumRedirects
        self.maximumAttempts = maximumAttempts
        self.cleartextExceptions = cleartextExceptions
    }
}

extension NetworkConfiguration: RedactedDescription {
    /// The base URL without user information, and the names of the header fields; never a value (G17).
    public var description: String { "\(Redaction.standard.url(baseURL)), headers \(headers)" }
}

extension NetworkConfiguration {
    /// Creates the request of an endpoint, without its body.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`.
    func request<Response>(for endpoint: Endpoint<Response>) throws -> HTTPRequestHead {
        if let problem = endpoint.path.problem { throw NetworkError(.invalidRequest, reason: problem) }
        if case .relative = endpoint.path.target, baseURL.query != nil || baseURL.fragment != nil {
            throw NetworkError(.invalidRequest, reason: "the base URL has a query or a fragment")
        }
        guard let url = url(of: endpoint) else {
            throw NetworkError(.invalidRequest, reason: "the base URL and the path are not a URL")
        }
        do {
            return HTTPRequestHead(method: endpoint.method, url: url, headers: try headers(of: endpoint, at: url))
        } catch {
            throw NetworkError(error)
        }
    }

    private func headers<Response>(
        of endpoint: Endpoint<Response>,
        at url: URL
    ) throws(HTTPFieldError) -> HTTPHeaders {
        if let problem = headers.problem ?? endpoint.headers.problem { throw problem }
        var fields = headers
        // Default fields may be keys of this API, so other origins do not receive them (G15).
        if Origin(url) != Origin(baseURL) {
            fields.removeAll { !RedirectPolicy.fieldsForAnyOrigin.contains($0.name.lowercased()) }
        }
        if fields["Accept"] == nil { try fields.set("Accept", to: endpoint.reading.accept(endpoint.format ?? format)) }
        if let contentType = endpoint.body.contentType { try fields.set("Content-Type", to: contentType) }
        if let key = endpoint.idempotencyKey { try fields.set("Idempotency-Key", to: key) }
        for name in endpoint.headers.names { fields.remove(name) }
        for field in endpoint.headers { try fields.append(field.name, field.value) }
        return fields
    }

    /// The method and URL of an endpoint, also of one that cannot be sent.
    func summary<Response>(of endpoint: Endpoint<Response>) -> RequestSummary {
        if endpoint.path.problem == nil, let url = url(of: endpoint) {
            return RequestSummary(HTTPRequestHead(method: endpoint.method, url: url), endpoint.path.redaction)
        }
        let base = Redaction.standard.url(baseURL)
        let query = endpoint.query.isEmpty ? "" : "?\(endpoint.query)"
        let url = "\(base)\(base.hasSuffix("/") ? "" : "/")\(endpoint.path)\(query)"
        return RequestSummary(method: endpoint.method, shown: url)
    }

    /// Refuses a request over plain http to another machine. This holds for requests without a token too: the response
    /// to a login and the body of a refresh contain tokens (G16).
    ///
    /// - Throws: ``NetworkError`` with code `cleartextRefused`.
    func refuseCleartext(_ request: HTTPRequestHead) throws {
        guard let origin = Origin(request.url) else { return }
        guard origin.allowsRequests(cleartextExceptions: cleartextExceptions) else {
            throw NetworkError(
                .cleartextRefused,
                reason: "\(origin) is plain http; use https, or add the origin to cleartextExceptions"
            )
        }
    }

    private func url<Response>(of endpoint: Endpoint<Response>) -> URL? {
        var text: String
        switch endpoint.path.target {
        case .absolute(let url):
            text = String(url.absoluteString.prefix { $0 != "#" })
        case .relative(let path):
            text = baseURL.absoluteString
            if !path.isEmpty { text += text.hasSuffix("/") ? path : "/" + path }
        }
        if !endpoint.query.isEmpty { text += (text.contains("?") ? "&" : "?") + endpoint.query.percentEncoded }
        return URL(string: text)
    }
}
