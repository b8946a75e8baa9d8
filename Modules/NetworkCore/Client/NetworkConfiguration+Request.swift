import Foundation

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
        RequestSummary(method: endpoint.method, url: url(of: endpoint) ?? baseURL)
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
