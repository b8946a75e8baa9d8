public import AuthInterface
public import Foundation

/// The base URL of a client, its limits, and how it encodes and decodes.
public struct NetworkConfiguration: Sendable {
    /// The URL that paths of endpoints are appended to: `https://api.example.com/api/v1`. It must have no query,
    /// fragment or user information.
    public var baseURL: URL

    /// The idle timeout: how long nothing may be sent or received.
    public var timeout: Duration = .seconds(30)

    /// The time limit of a whole call: waiting for a token and a connection, pauses, every attempt. It ends with the
    /// body; for a stream, with the head. It is never shorter than the idle timeout. `nil`: no limit.
    public var deadline: Duration? = .seconds(60)

    /// The statuses that count as success.
    public var acceptedStatuses = HTTPStatusSet.success

    /// How responses contain their value or error.
    public var format: any ResponseFormat = .json

    /// The JSON encoders of bodies, and the decoders of a ``format`` that has none of its own.
    public var coding = JSONCoding.standard

    /// Header fields of every request. The fields of an endpoint replace those of the same name.
    public var headers: HTTPHeaders = [:]

    /// The largest body of a response, in bytes: 16 MiB. A larger one fails with code `responseTooLarge`.
    public var maximumResponseSize = 16 * 1_024 * 1_024

    /// The most redirects in one attempt.
    public var maximumRedirects = 10

    /// The most attempts of one call, even if interceptors would retry more often. An attempt with another token in
    /// place of one that the server has refused does not count; there are two of them at most.
    public var maximumAttempts = 5

    /// The origins that may be reached over plain http, in addition to loopback (G16).
    public var cleartextExceptions: Set<Origin> = []

    /// Creates a configuration with the default limits.
    public init(baseURL: URL) { self.baseURL = baseURL }
}

extension NetworkConfiguration: RedactedDescription {
    /// The base URL without user information, and the names of the header fields; never a value (G17).
    public var description: String { "\(Redaction.standard.url(baseURL)), headers \(headers)" }
}

extension NetworkConfiguration {
    /// Creates the request of an endpoint, without its body.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`; ``HTTPFieldError``.
    func request<Response>(for endpoint: Endpoint<Response>) throws -> HTTPRequestHead {
        if let problem = endpoint.path.problem { throw NetworkError(.invalidRequest, reason: problem) }
        if case .relative = endpoint.path.target, baseURL.query != nil || baseURL.fragment != nil {
            throw NetworkError(.invalidRequest, reason: "the base URL has a query or a fragment")
        }
        guard let url = url(of: endpoint) else {
            throw NetworkError(.invalidRequest, reason: "the base URL and the path are not a URL")
        }
        var head = HTTPRequestHead(method: endpoint.method, url: url, headers: try headers(of: endpoint, at: url))
        head.secrets.values = endpoint.path.secrets
        return head
    }

    private func headers<Response>(of endpoint: Endpoint<Response>, at url: URL) throws(HTTPFieldError) -> HTTPHeaders {
        if let problem = headers.problem ?? endpoint.settings.headers.problem { throw problem }
        var fields = headers
        // Default fields may be keys of this API, so other origins do not receive them (G15).
        if !fields.isEmpty, Origin(url) != Origin(baseURL) {
            fields.removeAll { !RedirectPolicy.fieldsForAnyOrigin.contains($0.name.lowercased()) }
        }
        if fields.first(of: "Accept") == nil {
            try fields.append("Accept", endpoint.reading.accept(endpoint.settings.format ?? format))
        }
        if let contentType = endpoint.body.contentType { try fields.set("Content-Type", to: contentType) }
        if let key = endpoint.settings.idempotencyKey { try fields.set("Idempotency-Key", to: key) }
        let own = endpoint.settings.headers
        guard !own.isEmpty else { return fields }
        for name in own.names { fields.remove(name) }
        for field in own { try fields.append(field.name, field.value) }
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
    func refuseCleartext(_ origin: Origin) throws {
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
