public import AuthInterface

public import struct Foundation.UUID

/// One call of an API: what is sent, and the type of its response.
///
/// ```swift
/// extension Endpoint where Response == Article {
///     static func article(_ id: Article.ID) -> Self { .get("articles/\(id)") }
///     static func create(_ draft: ArticleDraft) -> Self { .post("articles", json: draft).idempotent() }
/// }
/// ```
///
/// An endpoint is a description: nothing is encoded, opened or sent before ``NetworkService/send(_:options:)``.
///
/// Responses are decoded, and bodies encoded, off the main actor. So the types that travel are declared `nonisolated`
/// in a module whose default isolation is `MainActor`; nothing else needs an annotation there.
public struct Endpoint<Response: Sendable>: Sendable {
    /// The request method.
    public let method: HTTPMethod

    /// The path below the base URL, or a URL of its own.
    public package(set) var path: EndpointPath

    /// The query items.
    public var query: QueryItems

    /// The body.
    public var body: RequestBody

    /// How the call is made, and its response read.
    public var settings = CallSettings()

    let reading: ResponseReading<Response>

    /// Whether the call may be sent more than once: its method is idempotent, or it has an idempotency key.
    public var isIdempotent: Bool { method.isIdempotent || settings.hasIdempotencyKey }
}

extension Endpoint {
    /// The same call without tokens, from an authenticated client too.
    public func withoutAuthentication() -> Self { with { $0.requiresAuthentication = false } }

    /// The same call with an `Idempotency-Key`, so that it may be sent again after a failure.
    ///
    /// The key belongs to the endpoint value: sending that value twice sends the same key twice, which asks the server
    /// to do the work once. A server that does not know the field may do the work twice.
    public func idempotent(key: String = UUID().uuidString) -> Self { with { $0.idempotencyKey = key } }

    /// The same call, which no interceptor has sent again.
    public func withoutRetries() -> Self { with { $0.retries = false } }

    /// The same call with a header field, in place of the field of that name.
    public func header(_ name: String, _ value: String) -> Self { with { $0.headers[name] = value } }

    /// The same call with an idle timeout of its own: see ``CallSettings/timeout``.
    public func timeout(_ duration: Duration) -> Self { with { $0.timeout = duration } }

    /// The same call with a response format of its own: `.json` for an OAuth 2 server beside an API of another format.
    public func format(_ format: any ResponseFormat) -> Self { with { $0.format = format } }

    /// The same call with a deadline of its own: see ``CallSettings/deadline``.
    public func deadline(_ duration: Duration) -> Self { with { $0.deadline = duration } }

    /// The same call with accepted statuses of its own: `.accepting(.success, .notFound)`.
    public func accepting(_ statuses: HTTPStatusSet...) -> Self { with { $0.acceptedStatuses = .any(of: statuses) } }

    /// The same call with a rule of its own for redirects: `.redirects(.refuse)`.
    public func redirects(_ rule: RedirectRule) -> Self { with { $0.redirects = rule } }

    /// The same call, whose value is made of the decoded one and the head of the response. An error that the transform
    /// throws fails the call with code `decodingFailed`.
    public func map<New: Sendable>(
        _ transform: @escaping @Sendable (Response, HTTPResponseHead) throws -> New
    ) -> Endpoint<New> {
        Endpoint<New>(
            method: method, path: path, query: query, body: body, settings: settings, reading: reading.map(transform))
    }

    private func with(_ change: (inout CallSettings) -> Void) -> Self {
        var copy = self
        change(&copy.settings)
        return copy
    }
}

extension Endpoint: RedactedDescription {
    /// The method and path; never a header value or a body (G17).
    public var description: String { "\(method) \(path)" }
}
