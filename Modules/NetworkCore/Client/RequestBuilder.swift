import Foundation

extension NetworkConfiguration {
    /// Builds the request of an endpoint, without its body.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`.
    func request<Response>(for endpoint: Endpoint<Response>) throws -> URLRequest {
        let url = try url(for: endpoint.path, query: endpoint.query)
        var request = URLRequest(url: url)
        request.httpMethod = endpoint.method.rawValue
        // Default fields may be keys to this API. They go no further than it does (G15).
        let isAtHome = Origin(url) == Origin(baseURL)
        for name in headers.names where isAtHome || RedirectPolicy.fieldsForAnyOrigin.contains(name.lowercased()) {
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
            throw NetworkError(.invalidRequest, reason: "the base URL and the path make no address")
        }
        return url
    }
}
