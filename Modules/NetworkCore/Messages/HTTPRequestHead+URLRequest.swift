import Foundation

extension HTTPRequestHead {
    /// Takes method, URL and header fields of a `URLRequest`; its body and its timeout are left out.
    ///
    /// - Parameter request: The request. Fails when it has no URL.
    public init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        self.init(
            method: HTTPMethod(rawValue: request.httpMethod ?? "GET"),
            url: url,
            headers: HTTPHeaders(fields.map { ($0.key, $0.value) })
        )
    }
}

extension URLRequest {
    /// Creates a request without a body. `URLRequest` joins the values of a repeated field with a comma.
    ///
    /// - Parameter head: Method, URL and header fields.
    public init(_ head: HTTPRequestHead) {
        self.init(url: head.url)
        httpMethod = head.method.rawValue
        for field in head.headers { addValue(field.value, forHTTPHeaderField: field.name) }
    }
}

extension HTTPResponseHead {
    /// Takes status, header fields and URL of an `HTTPURLResponse`, which has joined the values of repeated fields with
    /// a comma and forgotten the order of the fields.
    ///
    /// - Parameter response: The response.
    public init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.compactMap { name, value in
            (name as? String).map { ($0, "\(value)") }
        }
        self.init(status: response.statusCode, headers: HTTPHeaders(fields), url: response.url)
    }
}
