public import Foundation
public import NetworkCore

/// A request as a double saw it.
///
/// It is for tests and holds what was sent as it was, secrets included; the description shows method and address only.
public struct SentRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// The method.
    public let method: HTTPMethod

    /// The address.
    public let url: URL?

    /// The header fields.
    public let headers: HTTPHeaders

    /// The body, a sequence or file read to its end. `nil` where there was none.
    public let body: Data?

    /// The longest time in which nothing is sent and nothing is received.
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

    /// The path, percent-encoded, without the slash it begins with.
    public var path: String {
        let path = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedPath } ?? ""
        return path.hasPrefix("/") ? String(path.dropFirst()) : path
    }

    /// The query, percent-encoded.
    public var query: String? {
        url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedQuery }
    }

    /// Method and path.
    public var description: String { "\(method) /\(path)" }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description], displayStyle: .struct)
    }
}
