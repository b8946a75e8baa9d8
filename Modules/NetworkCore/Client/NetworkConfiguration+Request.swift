import Foundation

extension NetworkConfiguration {
    /// Creates the request of an endpoint, without its body.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`.
    func request<Response>(for endpoint: Endpoint<Response>) throws -> URLRequest {
        if let problem = endpoint.path.problem { throw NetworkError(.invalidRequest, reason: problem) }
        if case .relative = endpoint.path.target, baseURL.query != nil || baseURL.fragment != nil {
            throw NetworkError(.invalidRequest, reason: "the base URL has a query or a fragment")
        }
        guard let url = url(of: endpoint) else {
            throw NetworkError(.invalidRequest, reason: "the base URL and the path are not a URL")
        }
        var request = URLRequest(url: url)
        request.httpMethod = endpoint.method.rawValue
        // Default fields may be keys of this API, so other origins do not receive them (G15).
        let isBaseOrigin = Origin(url) == Origin(baseURL)
        for name in headers.names where isBaseOrigin || RedirectPolicy.fieldsForAnyOrigin.contains(name.lowercased()) {
            try request.set(name, headers[name])
        }
        if request.value(forHTTPHeaderField: "Accept") == nil {
            try request.set("Accept", endpoint.reading.accept)
        }
        if let contentType = endpoint.body.contentType {
            try request.set("Content-Type", contentType)
        }
        if let idempotencyKey = endpoint.idempotencyKey {
            try request.set("Idempotency-Key", idempotencyKey)
        }
        for name in endpoint.headers.names {
            try request.set(name, endpoint.headers[name])
        }
        return request
    }

    /// The method and URL of an endpoint, also of one that cannot be sent.
    func summary<Response>(of endpoint: Endpoint<Response>) -> RequestSummary {
        RequestSummary(method: endpoint.method, url: url(of: endpoint) ?? baseURL)
    }

    /// Refuses a request over plain http to another machine. This holds for requests without a token too: the response
    /// to a login and the body of a refresh contain tokens (G16).
    ///
    /// - Throws: ``NetworkError`` with code `cleartextRefused`.
    func refuseCleartext(_ request: URLRequest) throws {
        guard let origin = request.url.flatMap(Origin.init) else { return }
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
