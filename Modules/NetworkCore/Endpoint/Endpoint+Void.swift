// Endpoints whose answer says no more than that it worked (row N8).
extension Endpoint where Response == Void {
    /// `GET`: reads what is there. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    /// - Returns: The endpoint.
    public static func get(_ path: EndpointPath, query: QueryItems = [:]) -> Self {
        Endpoint(.get, path, query: query, body: .none, reading: .discarded)
    }

    /// `DELETE`: removes what is there. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    /// - Returns: The endpoint.
    public static func delete(_ path: EndpointPath, query: QueryItems = [:]) -> Self {
        Endpoint(.delete, path, query: query, body: .none, reading: .discarded)
    }

    /// `POST`: has something processed. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    ///   - body: What to send.
    /// - Returns: The endpoint.
    public static func post(_ path: EndpointPath, query: QueryItems = [:], body: RequestBody = .none) -> Self {
        Endpoint(.post, path, query: query, body: body, reading: .discarded)
    }

    /// `POST` with a JSON body: has something processed. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    ///   - json: What to send, encoded as JSON when it is sent.
    /// - Returns: The endpoint.
    public static func post(
        _ path: EndpointPath,
        query: QueryItems = [:],
        json: some Encodable & Sendable
    ) -> Self {
        post(path, query: query, body: .json(json))
    }

    /// `PUT`: replaces what is there. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    ///   - body: What to send.
    /// - Returns: The endpoint.
    public static func put(_ path: EndpointPath, query: QueryItems = [:], body: RequestBody = .none) -> Self {
        Endpoint(.put, path, query: query, body: body, reading: .discarded)
    }

    /// `PUT` with a JSON body: replaces what is there. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    ///   - json: What to send, encoded as JSON when it is sent.
    /// - Returns: The endpoint.
    public static func put(
        _ path: EndpointPath,
        query: QueryItems = [:],
        json: some Encodable & Sendable
    ) -> Self {
        put(path, query: query, body: .json(json))
    }

    /// `PATCH`: changes a part of what is there. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    ///   - body: What to send.
    /// - Returns: The endpoint.
    public static func patch(_ path: EndpointPath, query: QueryItems = [:], body: RequestBody = .none) -> Self {
        Endpoint(.patch, path, query: query, body: body, reading: .discarded)
    }

    /// `PATCH` with a JSON body: changes a part of what is there. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - query: The query.
    ///   - json: What to send, encoded as JSON when it is sent.
    /// - Returns: The endpoint.
    public static func patch(
        _ path: EndpointPath,
        query: QueryItems = [:],
        json: some Encodable & Sendable
    ) -> Self {
        patch(path, query: query, body: .json(json))
    }
}
