/// A value with the head of the response that it was read from: see ``NetworkService/response(to:options:)``.
public struct ResponseValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value

    /// The head of the response.
    public let head: HTTPResponseHead

    /// Creates a value with a head, for doubles of a service.
    public init(value: Value, head: HTTPResponseHead) {
        self.value = value
        self.head = head
    }

    /// The status of the response.
    public var status: Int { head.status }

    /// The header fields of the response.
    public var headers: HTTPHeaders { head.headers }
}

extension NetworkService {
    /// As ``send(_:options:)``, and returns the value with the head of its response: status and header fields.
    ///
    /// ```swift
    /// let response = try await network.response(to: .article(7))
    /// show(response.value, tag: response.headers["ETag"])
    /// ```
    ///
    /// - Throws: As ``send(_:options:)``.
    public func response<Value>(
        to endpoint: Endpoint<Value>, options: RequestOptions = RequestOptions()
    ) async throws -> ResponseValue<Value> {
        try await send(endpoint.map { ResponseValue(value: $0, head: $1) }, options: options)
    }
}
