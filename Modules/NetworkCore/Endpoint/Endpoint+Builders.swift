extension Endpoint {
    /// Creates endpoints of one method that send no body: `.get("articles", query: ["limit": 20])`.
    public struct Builder: Sendable {
        let method: HTTPMethod
        let reading: ResponseReading<Response>

        /// Creates an endpoint.
        public func callAsFunction(_ path: EndpointPath, query: QueryItems = [:]) -> Endpoint {
            Endpoint(method: method, path: path, query: query, body: .none, reading: reading)
        }
    }

    /// Creates endpoints of one method that may send a body: `.post("articles", json: draft)`.
    public struct BodyBuilder: Sendable {
        let method: HTTPMethod
        let reading: ResponseReading<Response>

        /// Creates an endpoint.
        public func callAsFunction(
            _ path: EndpointPath, query: QueryItems = [:], body: RequestBody = .none
        ) -> Endpoint {
            Endpoint(method: method, path: path, query: query, body: body, reading: reading)
        }

        /// Creates an endpoint with a JSON body.
        public func callAsFunction(
            _ path: EndpointPath, query: QueryItems = [:], json: some Encodable & Sendable
        ) -> Endpoint {
            self(path, query: query, body: .json(json))
        }
    }
}

/// The response is decoded, by the client's format unless the endpoint names one. `Data` is the body as it is.
extension Endpoint where Response: Decodable {
    /// `GET`: reads a resource.
    public static var get: Builder { Builder(method: .get, reading: .decoded) }

    /// `DELETE`: removes a resource.
    public static var delete: Builder { Builder(method: .delete, reading: .decoded) }

    /// `POST`: has the server process the body.
    public static var post: BodyBuilder { BodyBuilder(method: .post, reading: .decoded) }

    /// `PUT`: replaces a resource.
    public static var put: BodyBuilder { BodyBuilder(method: .put, reading: .decoded) }

    /// `PATCH`: changes a part of a resource.
    public static var patch: BodyBuilder { BodyBuilder(method: .patch, reading: .decoded) }
}

/// No value is read from the response.
extension Endpoint where Response == Void {
    /// `GET`: reads a resource.
    public static var get: Builder { Builder(method: .get, reading: .discarded) }

    /// `HEAD`: asks whether a resource can be read.
    public static var head: Builder { Builder(method: .head, reading: .discarded) }

    /// `DELETE`: removes a resource.
    public static var delete: Builder { Builder(method: .delete, reading: .discarded) }

    /// `POST`: has the server process the body.
    public static var post: BodyBuilder { BodyBuilder(method: .post, reading: .discarded) }

    /// `PUT`: replaces a resource.
    public static var put: BodyBuilder { BodyBuilder(method: .put, reading: .discarded) }

    /// `PATCH`: changes a part of a resource.
    public static var patch: BodyBuilder { BodyBuilder(method: .patch, reading: .discarded) }
}

extension Endpoint where Response == HTTPResponse {
    /// An endpoint of any method that returns the whole response: status, header fields and body.
    ///
    /// A status that is not accepted is an error, as for every endpoint.
    public static func request(
        _ method: HTTPMethod, _ path: EndpointPath, query: QueryItems = [:], body: RequestBody = .none
    ) -> Self {
        Endpoint(method: method, path: path, query: query, body: body, reading: .whole)
    }
}
