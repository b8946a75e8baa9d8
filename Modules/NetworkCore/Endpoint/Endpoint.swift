public import struct Foundation.UUID

/// One call of an API: what is sent, and what its answer is read as.
///
/// ```swift
/// extension Endpoint where Response == Article {
///     static func article(_ id: Article.ID) -> Self { .get("articles/\(id)") }
///     static func create(_ draft: ArticleDraft) -> Self { .post("articles", json: draft).idempotent() }
/// }
/// ```
///
/// An endpoint is a description: nothing is encoded, opened or sent before ``NetworkService/send(_:progress:)``.
public struct Endpoint<Response: Sendable>: Sendable {
    /// The request method.
    public let method: HTTPMethod

    /// Where it is, seen from the base URL.
    public let path: EndpointPath

    /// The query.
    public var query: QueryItems

    /// Header fields of this call. They win over the configuration's default ones.
    public var headers: HTTPHeaders

    /// What is sent along.
    public var body: RequestBody

    /// Whether an *authenticated* client adds tokens. An open client never does.
    public var requiresAuthentication: Bool

    /// The key that lets the server recognise the same call sent twice, sent as `Idempotency-Key`. With one, even a
    /// `POST` may be sent again.
    public var idempotencyKey: String?

    /// The longest silence to bear, instead of the configuration's.
    public var timeout: Duration?

    /// How the answer is read, instead of the configuration's way.
    public var format: (any ResponseFormat)?

    let reading: ResponseReading<Response>

    init(
        _ method: HTTPMethod,
        _ path: EndpointPath,
        query: QueryItems,
        body: RequestBody,
        reading: ResponseReading<Response>
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = [:]
        self.body = body
        self.requiresAuthentication = true
        self.idempotencyKey = nil
        self.timeout = nil
        self.format = nil
        self.reading = reading
    }

    /// Whether the call may be sent more than once: by its method, or because it has an idempotency key.
    public var isIdempotent: Bool { method.isIdempotent || idempotencyKey != nil }
}

extension Endpoint {
    /// The same call, without tokens even from an authenticated client.
    ///
    /// - Returns: The changed endpoint.
    public func withoutAuthentication() -> Self {
        with { $0.requiresAuthentication = false }
    }

    /// The same call with an `Idempotency-Key`, so that it may be sent again after a failure.
    ///
    /// The key belongs to the endpoint value: sending that value twice sends the same key twice, which asks the server
    /// to do the work once. The server must know the field; one that does not may do the work twice.
    ///
    /// - Parameter key: The key; a random one if left out.
    /// - Returns: The changed endpoint.
    public func idempotent(key: String = UUID().uuidString) -> Self {
        with { $0.idempotencyKey = key }
    }

    /// The same call with a header field, in place of one of that name.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: The field's value.
    /// - Returns: The changed endpoint.
    public func header(_ name: String, _ value: String) -> Self {
        with { $0.headers[name] = value }
    }

    /// The same call with a time-out of its own.
    ///
    /// - Parameter duration: The longest silence to bear: the time in which nothing is sent and nothing received.
    /// - Returns: The changed endpoint.
    public func timeout(_ duration: Duration) -> Self {
        with { $0.timeout = duration }
    }

    /// The same call, its answer read in a way of its own: `.json` for an OAuth2 server beside an API of envelopes.
    ///
    /// - Parameter format: The way.
    /// - Returns: The changed endpoint.
    public func format(_ format: any ResponseFormat) -> Self {
        with { $0.format = format }
    }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Endpoint: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and path; never a header value or a body (G17).
    public var description: String { "\(method) \(path)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["method": method.rawValue, "path": path.description], displayStyle: .struct)
    }
}
