public import struct Foundation.Data

extension Endpoint where Response == Data {
    /// A call whose answer is its body as it is: an image, a file.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    /// - Returns: The endpoint.
    public static func get(_ path: EndpointPath, query: QueryItems = [:]) -> Self {
        Endpoint(.get, path, query: query, body: .none, reading: .bytes)
    }
}

extension Endpoint where Response == HTTPResponse {
    /// A call whose answer is the whole response: status, header fields and body.
    ///
    /// A status that is not accepted is an error here as everywhere.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - path: Where it is.
    ///   - query: The query.
    ///   - body: What to send.
    /// - Returns: The endpoint.
    public static func request(
        _ method: HTTPMethod,
        _ path: EndpointPath,
        query: QueryItems = [:],
        body: RequestBody = .none
    ) -> Self {
        Endpoint(method, path, query: query, body: body, reading: .whole)
    }
}
