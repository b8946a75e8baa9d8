public import Foundation
public import NetworkCore

/// A request that a test double received.
///
/// It contains everything that was sent, secrets included. Its description shows the method and path only.
public struct SentRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// The method.
    public let method: HTTPMethod

    /// The URL.
    public let url: URL?

    /// The header fields.
    public let headers: HTTPHeaders

    /// The body. A sequence or file is read to its end. `nil`: there was none.
    public let body: Data?

    /// The idle timeout.
    public let idleTimeout: Duration

    /// The longest time to the head of the response.
    public let timeToHead: Duration?

    /// The call the request is part of.
    public let context: RequestContext

    init(_ request: HTTPTransportRequest) async throws {
        method = request.head.method
        url = request.head.url
        headers = request.head.headers
        body = request.body.isEmpty ? nil : try await request.body.collect(upTo: .max)
        idleTimeout = request.idleTimeout
        timeToHead = request.timeToHead
        context = request.context
    }

    /// The path, percent-encoded, without its leading slash.
    public var path: String {
        let path = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedPath } ?? ""
        return path.hasPrefix("/") ? String(path.dropFirst()) : path
    }

    /// The query, percent-encoded.
    public var query: String? {
        url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedQuery }
    }

    /// The method and path.
    public var description: String { "\(method) /\(path)" }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description], displayStyle: .struct)
    }
}
