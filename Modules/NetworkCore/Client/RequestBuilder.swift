import Foundation

extension NetworkConfiguration {
    /// Builds the request of an endpoint, without its body.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`.
    func request<Response>(for endpoint: Endpoint<Response>) throws -> HTTPRequestHead {
        let url = try url(for: endpoint.path, query: endpoint.query)
        do {
            return try head(for: endpoint, to: url)
        } catch let error as HTTPFieldError {
            throw NetworkError(error)
        }
    }

    private func head<Response>(for endpoint: Endpoint<Response>, to url: URL) throws -> HTTPRequestHead {
        if let problem = headers.problem ?? endpoint.headers.problem { throw problem }
        var request = HTTPRequestHead(method: endpoint.method, url: url)
        // Default fields may be keys to this API. They go no further than it does (G15).
        let isAtHome = Origin(url) == Origin(baseURL)
        for field in headers where isAtHome || RedirectPolicy.fieldsForAnyOrigin.contains(field.name.lowercased()) {
            try request.headers.append(field.name, field.value)
        }
        if request.headers["Accept"] == nil { try request.set("Accept", to: endpoint.reading.accept) }
        if let contentType = endpoint.body.contentType { try request.set("Content-Type", to: contentType) }
        if let key = endpoint.idempotencyKey { try request.set("Idempotency-Key", to: key) }
        for name in endpoint.headers.names { request.headers.remove(name) }
        for field in endpoint.headers { try request.headers.append(field.name, field.value) }
        return request
    }

    private func url(for path: EndpointPath, query: QueryItems) throws -> URL {
        if let problem = path.problem { throw NetworkError(.invalidRequest, reason: problem) }
        var text: String
        switch path.target {
        case .absolute(let url):
            text = String(url.absoluteString.prefix { $0 != "#" })
        case .relative(let path):
            guard baseURL.query == nil, baseURL.fragment == nil else {
                throw NetworkError(.invalidRequest, reason: "the base URL has a query or a fragment")
            }
            text = baseURL.absoluteString
            if !path.isEmpty { text += text.hasSuffix("/") ? path : "/" + path }
        }
        if !query.isEmpty { text += (text.contains("?") ? "&" : "?") + query.percentEncoded }
        guard let url = URL(string: text) else {
            throw NetworkError(.invalidRequest, reason: "the base URL and the path make no URL")
        }
        return url
    }
}
